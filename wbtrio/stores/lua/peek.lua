-- Read several buckets without changing them.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- Returns  {now, then for each key: full_at (µs), not_before (µs), granted (tokens)}

local reply = {now}
for i, key in ipairs(KEYS) do
  reply[3 * i - 1], reply[3 * i], reply[3 * i + 1] = read(key)
end
return reply
