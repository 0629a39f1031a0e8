-- Give tokens back to each bucket that stands as the grant left it. Mirrors refund() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then four for each key:
--          interval (µs a token), burst (tokens), cost (tokens), the value that the grant left
-- Returns  {now, 1 if every bucket gave back else 0, then each key's value}

local reply = {now, 1}
for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  local bucket = read(key)
  if bucket.stored == ARGV[at + 3] then
    local interval, burst, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local paced_interval = pace(bucket, interval, burst)
    bucket.full_at, bucket.granted = bucket.full_at - cost * paced_interval, bucket.granted - cost
    reply[i + 2] = write(key, bucket, interval, burst)
  else
    reply[2] = 0
    reply[i + 2] = value_of(bucket)
  end
end
return reply
