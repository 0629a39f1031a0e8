-- Take tokens from several buckets, or from none. Mirrors acquire() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then four for each key:
--          interval (µs a token), burst (tokens), cost (tokens, 1..burst), hint (a value)
-- Returns  {1 if granted else 0, now, then each key's value}

local granted = 1
local buckets, prices = {}, {}

for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  local interval, burst, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local bucket = read(key, ARGV[at + 3])
  forget(bucket, now, interval, burst)
  local paced_interval, paced_burst = pace(bucket, interval, burst)
  local needed = math.min(cost, paced_burst)
  local admitted_at = max(bucket.full_at, now) + needed * paced_interval - paced_burst * paced_interval
  if now < bucket.not_before or now < admitted_at then
    granted = 0
  end
  buckets[i], prices[i] = bucket, cost * paced_interval
end

local reply = {granted, now}
for i, key in ipairs(KEYS) do
  local bucket = buckets[i]
  if granted == 1 then
    bucket.full_at = max(bucket.full_at, now) + prices[i]
    bucket.granted = bucket.granted + tonumber(ARGV[4 * i])
  end
  reply[i + 2] = write(key, bucket, tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1]))
end
return reply
