-- Take tokens from several buckets, or from none. Mirrors acquire() and merge() of wbtrio/_bucket.py.
--
-- KEYS     the buckets' keys, one hash tag for all
-- ARGV[1]  see prelude.lua
-- ARGV     then six for each key:
--          interval (µs a token), burst (tokens), cost (tokens, 1..burst),
--          hint: full_at (µs), not_before (µs), granted (tokens)
-- Returns  {1 if granted else 0, now, then for each key: full_at, not_before, granted}

local reply = {1, now}
local kept = {}

for i, key in ipairs(KEYS) do
  local at = 6 * i - 4
  local interval, burst, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local full_at, not_before, granted, stored = read(key)
  full_at = max(full_at, tonumber(ARGV[at + 3]))
  not_before = max(not_before, tonumber(ARGV[at + 4]))
  granted = max(granted, tonumber(ARGV[at + 5]))
  if now < not_before or max(full_at, now) + cost * interval - now > burst * interval then
    reply[1] = 0
  end
  kept[i] = stored
  reply[3 * i], reply[3 * i + 1], reply[3 * i + 2] = full_at, not_before, granted
end

for i, key in ipairs(KEYS) do
  if reply[1] == 1 then
    local at = 6 * i - 4
    local interval, cost = tonumber(ARGV[at]), tonumber(ARGV[at + 2])
    reply[3 * i] = max(reply[3 * i], now) + cost * interval
    reply[3 * i + 2] = reply[3 * i + 2] + cost
  end
  write(key, kept[i], reply[3 * i], reply[3 * i + 1], reply[3 * i + 2])
end
return reply
