-- Give tokens back to each bucket that stands as the grant left it. Mirrors refund() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then eight for each key:
--          interval (µs a token), cost (tokens),
--          the state that the grant left: full_at (µs), not_before (µs), granted (tokens),
--          slow_interval (µs), burst_cut (tokens), slow_until (µs)
-- Returns  {now, 1 if every bucket gave back else 0, then for each key: full_at, not_before, granted,
--          slow_interval, burst_cut, slow_until}

local reply = {now, 1}
for i, key in ipairs(KEYS) do
  local at = 8 * i - 6
  local bucket = read(key)
  local stands = {}
  put(stands, bucket)
  local as_granted = true
  for field = 1, 6 do
    as_granted = as_granted and stands[field] == tonumber(ARGV[at + 1 + field])
  end
  if as_granted then
    local interval, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    if bucket.slow_until ~= 0 then
      interval = max(interval, bucket.slow_interval)
    end
    bucket.full_at, bucket.granted = bucket.full_at - cost * interval, bucket.granted - cost
    write(key, bucket)
  else
    reply[2] = 0
  end
  put(reply, bucket)
end
return reply
