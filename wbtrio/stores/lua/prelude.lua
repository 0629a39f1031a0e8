-- What every script begins with: the clock, and how a bucket is read, paced and written.
-- Mirrors merge(), pace(), forget() and time_to_live() of wbtrio/_bucket.py.
--
-- KEYS     none of its own
-- ARGV[1]  now in µs, for tests only (nothing expires then); '' in real life: the server's own TIME
-- Returns  nothing of its own
-- Value    "full_at not_before granted" (µs, µs, tokens), and while a 429 proved a slower pace also
--          " slow_interval burst_cut slow_until" (µs, tokens, µs); expires when the bucket is full,
--          unheld and back at the registry's pace

-- Names of our own: each look-up of a global costs as much as a line of arithmetic.
local call, tonumber, max, ceil = redis.call, tonumber, math.max, math.ceil
local match, format = string.match, string.format

local is_test = ARGV[1] ~= ''
local now
if is_test then
  now = tonumber(ARGV[1])
else
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function parse(text)
  local f, n, g, rest = match(text, '^(%d+) (%d+) (%d+)(.*)$')
  local bucket = f and {
    full_at = tonumber(f), not_before = tonumber(n), granted = tonumber(g),
    slow_interval = 0, burst_cut = 0, slow_until = 0, stored = false,
  }
  if f and rest ~= '' then
    local i, c, u = match(rest, '^ (%d+) (%d+) (%d+)$')
    bucket.slow_interval, bucket.burst_cut, bucket.slow_until = tonumber(i), tonumber(c), tonumber(u)
    bucket = i and bucket
  end
  return bucket or error('this value is no bucket of wbtrio: ' .. text)
end

-- An absent bucket is a full one: zeros. `hint`: a value to merge in, or nil.
local function read(key, hint)
  local stored = call('GET', key)
  local bucket = parse(stored or hint or '0 0 0')
  if stored and hint and hint ~= stored then
    local known = parse(hint)
    bucket.full_at = max(bucket.full_at, known.full_at)
    bucket.not_before = max(bucket.not_before, known.not_before)
    bucket.granted = max(bucket.granted, known.granted)
    bucket.slow_interval = max(bucket.slow_interval, known.slow_interval)
    bucket.burst_cut = max(bucket.burst_cut, known.burst_cut)
    bucket.slow_until = max(bucket.slow_until, known.slow_until)
  end
  bucket.stored = stored
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
    local missing = ceil(max(0, bucket.full_at - moment) / old_interval)
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

local function value_of(bucket)
  local value = format('%.0f %.0f %.0f', bucket.full_at, bucket.not_before, bucket.granted)
  if bucket.slow_until ~= 0 then
    value = value .. format(' %.0f %.0f %.0f', bucket.slow_interval, bucket.burst_cut, bucket.slow_until)
  end
  return value
end

-- Store the bucket where it changed; returns its value.
local function write(key, bucket, interval, burst)
  local value = value_of(bucket)
  if value == bucket.stored then
    return value
  end
  if is_test then
    call('SET', key, value)
    return value
  end
  local ends_at = max(bucket.full_at, bucket.not_before, bucket.slow_until)
  if bucket.slow_until ~= 0 then
    forget(bucket, max(now, bucket.slow_until), interval, burst)
    ends_at = max(ends_at, bucket.full_at)
  end
  local lifetime = ceil((ends_at - now) / 1000)
  if lifetime > 0 then
    call('SET', key, value, 'PX', lifetime)
  elseif bucket.stored then
    call('DEL', key)
  end
  return value
end
