-- What every script begins with: the clock, and how a bucket is read, paced and written.
-- Mirrors merge(), pace(), forget() and time_to_live() of wbtrio/_bucket.py.
--
-- KEYS     none of its own
-- ARGV[1]  now in µs, for tests only (nothing expires then); '' in real life: the server's own TIME
-- Returns  nothing of its own
-- Value    "full_at not_before granted" (µs, µs, tokens), and while a 429 proved a slower pace also
--          " slow_interval burst_cut slow_until" (µs, tokens, µs); expires when the bucket is full,
--          unheld and back at the registry's pace

local is_test = ARGV[1] ~= ''
local now
if is_test then
  now = tonumber(ARGV[1])
else
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local max = math.max

-- An absent bucket is a full one: zeros. `hint`: the first of six arguments to merge in, or nil.
local function read(key, hint)
  local bucket = {full_at = 0, not_before = 0, granted = 0, slow_interval = 0, burst_cut = 0, slow_until = 0}
  local stored = redis.call('GET', key)
  bucket.stored = stored
  if stored then
    local f, n, g, rest = string.match(stored, '^(%d+) (%d+) (%d+)(.*)$')
    if not f then
      error('the value at ' .. key .. ' is no bucket of wbtrio')
    end
    bucket.full_at, bucket.not_before, bucket.granted = tonumber(f), tonumber(n), tonumber(g)
    if rest ~= '' then
      local i, c, u = string.match(rest, '^ (%d+) (%d+) (%d+)$')
      if not i then
        error('the value at ' .. key .. ' is no bucket of wbtrio')
      end
      bucket.slow_interval, bucket.burst_cut, bucket.slow_until = tonumber(i), tonumber(c), tonumber(u)
    end
  end
  if hint then
    bucket.full_at = max(bucket.full_at, tonumber(ARGV[hint]))
    bucket.not_before = max(bucket.not_before, tonumber(ARGV[hint + 1]))
    bucket.granted = max(bucket.granted, tonumber(ARGV[hint + 2]))
    bucket.slow_interval = max(bucket.slow_interval, tonumber(ARGV[hint + 3]))
    bucket.burst_cut = max(bucket.burst_cut, tonumber(ARGV[hint + 4]))
    bucket.slow_until = max(bucket.slow_until, tonumber(ARGV[hint + 5]))
  end
  return bucket
end

-- The interval and the burst that the bucket goes by.
local function pace(bucket, interval, burst)
  if bucket.slow_until == 0 then
    return interval, burst
  end
  return max(interval, bucket.slow_interval), max(1, burst - bucket.burst_cut)
end

-- Keep the whole tokens that are left at a moment, or fewer, at another pace.
local function repace(bucket, moment, old_interval, old_burst, new_interval, new_burst)
  if old_interval ~= new_interval or old_burst ~= new_burst then
    local missing = math.ceil(max(0, bucket.full_at - moment) / old_interval)
    bucket.full_at = moment + max(0, missing + new_burst - old_burst) * new_interval
  end
end

local function forget(bucket, moment, interval, burst)
  if bucket.slow_until ~= 0 and moment >= bucket.slow_until then
    local old_interval, old_burst = pace(bucket, interval, burst)
    repace(bucket, bucket.slow_until, old_interval, old_burst, interval, burst)
    bucket.slow_interval, bucket.burst_cut, bucket.slow_until = 0, 0, 0
  end
end

local function write(key, bucket, interval, burst)
  local value = string.format('%.0f %.0f %.0f', bucket.full_at, bucket.not_before, bucket.granted)
  if bucket.slow_until ~= 0 then
    value = value .. string.format(' %.0f %.0f %.0f', bucket.slow_interval, bucket.burst_cut, bucket.slow_until)
  end
  if value == bucket.stored then
    return
  end
  if is_test then
    redis.call('SET', key, value)
    return
  end
  local ends_at = max(bucket.full_at, bucket.not_before, bucket.slow_until)
  forget(bucket, max(now, bucket.slow_until), interval, burst)
  local lifetime = math.ceil((max(ends_at, bucket.full_at) - now) / 1000)
  if lifetime > 0 then
    redis.call('SET', key, value, 'PX', lifetime)
  elseif bucket.stored then
    redis.call('DEL', key)
  end
end

-- Append the bucket's six integers to a reply.
local function put(reply, bucket)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = bucket.full_at, bucket.not_before, bucket.granted
  reply[n + 4], reply[n + 5], reply[n + 6] = bucket.slow_interval, bucket.burst_cut, bucket.slow_until
end
