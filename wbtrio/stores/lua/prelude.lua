-- What every script begins with: the clock, and how a bucket is read and written.
--
-- KEYS     none of its own
-- ARGV[1]  now in µs, for tests only (nothing expires then); '' in real life: the server's own TIME
-- Returns  nothing of its own
-- Value    "full_at not_before granted" (µs, µs, tokens), expiring when the bucket is full and unheld

local is_test = ARGV[1] ~= ''
local now
if is_test then
  now = tonumber(ARGV[1])
else
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local max = math.max

-- An absent bucket is a full one: three zeros.
local function read(key)
  local stored = redis.call('GET', key)
  if not stored then
    return 0, 0, 0, stored
  end
  local full_at, not_before, granted = string.match(stored, '^(%d+) (%d+) (%d+)$')
  if not full_at then
    error('the value at ' .. key .. ' is no bucket of wbtrio')
  end
  return tonumber(full_at), tonumber(not_before), tonumber(granted), stored
end

local function write(key, stored, full_at, not_before, granted)
  local value = string.format('%.0f %.0f %.0f', full_at, not_before, granted)
  if value == stored then
    return
  end
  if is_test then
    redis.call('SET', key, value)
    return
  end
  local lifetime = math.ceil((max(full_at, not_before) - now) / 1000)
  if lifetime > 0 then
    redis.call('SET', key, value, 'PX', lifetime)
  elseif stored then
    redis.call('DEL', key)
  end
end
