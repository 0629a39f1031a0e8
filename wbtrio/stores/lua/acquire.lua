-- Take tokens from several buckets, or from none. Mirrors acquire() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then nine for each key:
--          interval (µs a token), burst (tokens), cost (tokens, 1..burst),
--          hint: full_at (µs), not_before (µs), granted (tokens),
--                slow_interval (µs), burst_cut (tokens), slow_until (µs)
-- Returns  {1 if granted else 0, now, then for each key: full_at, not_before, granted,
--          slow_interval, burst_cut, slow_until}

local granted = 1
local buckets = {}

for i, key in ipairs(KEYS) do
  local at = 9 * i - 7
  local interval, burst, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local bucket = read(key, at + 3)
  forget(bucket, now, interval, burst)
  local paced_interval, paced_burst = pace(bucket, interval, burst)
  local needed = math.min(cost, paced_burst)
  local admitted_at = max(bucket.full_at, now) + needed * paced_interval - paced_burst * paced_interval
  if now < bucket.not_before or now < admitted_at then
    granted = 0
  end
  bucket.price, bucket.cost, bucket.interval, bucket.burst = cost * paced_interval, cost, interval, burst
  buckets[i] = bucket
end

local reply = {granted, now}
for i, key in ipairs(KEYS) do
  local bucket = buckets[i]
  if granted == 1 then
    bucket.full_at = max(bucket.full_at, now) + bucket.price
    bucket.granted = bucket.granted + bucket.cost
  end
  put(reply, bucket)
  write(key, bucket, bucket.interval, bucket.burst)
end
return reply
