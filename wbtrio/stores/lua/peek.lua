-- Read several buckets without changing them.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- Returns  {now (µs), then each key's value}

local reply = {now}
for i, key in ipairs(KEYS) do
  reply[i + 1] = value_of(read(key))
end
return reply
