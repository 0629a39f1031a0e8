-- Give tokens back to each bucket that stands as the grant left it. Mirrors refund() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then nine for each key:
--          interval (µs a token), burst (tokens), cost (tokens),
--          the state that the grant left: full_at (µs), not_before (µs), granted (tokens),
--          slow_interval (µs), burst_cut (tokens), slow_until (µs)
-- Returns  {now, 1 if every bucket gave back else 0, then for each key: full_at, not_before, granted,
--          slow_interval, burst_cut, slow_until}

local reply = {now, 1}
for i, key in ipairs(KEYS) do
  local at = 9 * i - 7
  local bucket = read(key)
  local stands = {}
  put(stands, bucket)
  local as_granted = true
  for field = 1, 6 do
    as_granted = as_granted and stands[field] == tonumber(ARGV[at + 2 + field])
  end
  if as_granted then
    local interval, burst, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local paced_interval = pace(bucket, interval, burst)
    bucket.full_at, bucket.granted = bucket.full_at - cost * paced_interval, bucket.granted - cost
    put(reply, bucket)
    write(key, bucket, interval, burst)
  else
    reply[2] = 0
    put(reply, bucket)
  end
end
return reply
