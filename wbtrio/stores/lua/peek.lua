-- Read several buckets without changing them.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- Returns  {now, then for each key: full_at (µs), not_before (µs), granted (tokens),
--          slow_interval (µs), burst_cut (tokens), slow_until (µs)}

local reply = {now}
for _, key in ipairs(KEYS) do
  put(reply, read(key))
end
return reply
