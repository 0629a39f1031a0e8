-- Narrow one bucket. Mirrors narrow() and merge() of wbtrio/_bucket.py.
--
-- KEYS[1]  the bucket's key
-- ARGV[1]  see prelude.lua
-- ARGV[2]  interval (µs a token)      ARGV[3]  burst (tokens)
-- ARGV[4]  hint: full_at (µs)         ARGV[5]  hint: not_before (µs)    ARGV[6]  hint: granted (tokens)
-- ARGV[7]  charge (tokens)            ARGV[8]  remaining (tokens), -1: not known
-- ARGV[9]  fence: ticket, -1: none    ARGV[10] fence: granted_at (µs)
-- ARGV[11] full_in (µs from now)      ARGV[12] hold (µs from now)
-- Returns  {now, full_at, not_before, granted before; full_at, not_before, granted after}

local interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local charge, remaining, ticket = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local full_in, hold = tonumber(ARGV[11]), tonumber(ARGV[12])

local full_at, not_before, granted, stored = read(KEYS[1])
full_at = max(full_at, tonumber(ARGV[4]))
not_before = max(not_before, tonumber(ARGV[5]))
granted = max(granted, tonumber(ARGV[6]))
local reply = {now, full_at, not_before, granted}

if charge > 0 then
  full_at = max(full_at, now) + charge * interval
end
if remaining >= 0 and remaining < burst then
  local missing = burst - remaining
  full_at = max(full_at, now + missing * interval)
  if ticket >= 0 then
    local later = max(0, granted - ticket)
    full_at = max(full_at, tonumber(ARGV[10]) + (missing + later) * interval)
  end
end
if full_in > 0 then
  full_at = max(full_at, now + full_in)
end
if hold > 0 then
  not_before = max(not_before, now + hold)
end
write(KEYS[1], stored, full_at, not_before, granted)
reply[5], reply[6], reply[7] = full_at, not_before, granted
return reply
