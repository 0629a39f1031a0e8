-- Give tokens back to each bucket that stands as the grant left it. Mirrors refund() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then five for each key:
--          interval (µs a token), cost (tokens),
--          the state that the grant left: full_at (µs), not_before (µs), granted (tokens)
-- Returns  {now, 1 if every bucket gave back else 0, then for each key: full_at, not_before, granted}

local reply = {now, 1}
for i, key in ipairs(KEYS) do
  local at = 5 * i - 3
  local full_at, not_before, granted, stored = read(key)
  local as_granted = full_at == tonumber(ARGV[at + 2])
    and not_before == tonumber(ARGV[at + 3])
    and granted == tonumber(ARGV[at + 4])
  if as_granted then
    local interval, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    full_at, granted = full_at - cost * interval, granted - cost
    write(key, stored, full_at, not_before, granted)
  else
    reply[2] = 0
  end
  reply[3 * i], reply[3 * i + 1], reply[3 * i + 2] = full_at, not_before, granted
end
return reply
