-- Narrow one bucket. Mirrors narrow() of wbtrio/_bucket.py.
--
-- KEYS[1]  the bucket's key
-- ARGV[1]  see prelude.lua
-- ARGV[2]  interval (µs a token)      ARGV[3]  burst (tokens)
-- ARGV[4]  hint: full_at (µs)         ARGV[5]  not_before (µs)       ARGV[6]  granted (tokens)
-- ARGV[7]  slow_interval (µs)         ARGV[8]  burst_cut (tokens)    ARGV[9]  slow_until (µs)
-- ARGV[10] charge (tokens)            ARGV[11] remaining (tokens), -1: not known
-- ARGV[12] fence: ticket, -1: none    ARGV[13] fence: granted_at (µs)
-- ARGV[14] full_in (µs from now)      ARGV[15] hold (µs from now)
-- ARGV[16] slow_interval (µs), 0: not known; then also
-- ARGV[17] burst_cut (tokens)         ARGV[18] slow_for (µs from now)
-- ARGV[19] undo: cost (tokens), 0: none; then also
-- ARGV[20] the grant's full_at (µs)   ARGV[21] the grant's granted (tokens)
-- Returns  {now, then before and after: full_at, not_before, granted,
--          slow_interval, burst_cut, slow_until}

local interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local charge, remaining, ticket = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local full_in, hold, slow_interval = tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[16])

local bucket = read(KEYS[1], 4)
local reply = {now}
put(reply, bucket)

forget(bucket, now, interval, burst)
local undone = tonumber(ARGV[19])
if undone > 0 and bucket.full_at == tonumber(ARGV[20]) and bucket.granted == tonumber(ARGV[21]) then
  local paced_interval = pace(bucket, interval, burst)
  bucket.full_at = max(0, bucket.full_at - undone * paced_interval)
end
if slow_interval > 0 then
  local old_interval, old_burst = pace(bucket, interval, burst)
  bucket.slow_interval = max(bucket.slow_interval, slow_interval)
  bucket.burst_cut = max(bucket.burst_cut, tonumber(ARGV[17]))
  bucket.slow_until = max(bucket.slow_until, now + tonumber(ARGV[18]))
  local new_interval, new_burst = pace(bucket, interval, burst)
  -- Beyond an empty bucket may be a hold's time, not tokens: it is kept as it is.
  local beyond = max(0, bucket.full_at - now - old_burst * old_interval)
  bucket.full_at = bucket.full_at - beyond
  repace(bucket, now, old_interval, old_burst, new_interval, new_burst)
  bucket.full_at = bucket.full_at + beyond
end
local listed_interval, listed_burst = interval, burst
interval, burst = pace(bucket, interval, burst)

if charge > 0 then
  bucket.full_at = max(bucket.full_at, now) + charge * interval
end
if remaining >= 0 and remaining < burst then
  local missing = burst - remaining
  bucket.full_at = max(bucket.full_at, now + missing * interval)
  if ticket >= 0 then
    local later = max(0, bucket.granted - ticket)
    bucket.full_at = max(bucket.full_at, tonumber(ARGV[13]) + (missing + later) * interval)
  end
end
if full_in > 0 then
  bucket.full_at = max(bucket.full_at, now + full_in)
end
if hold > 0 then
  bucket.not_before = max(bucket.not_before, now + hold)
end
put(reply, bucket)
write(KEYS[1], bucket, listed_interval, listed_burst)
return reply
