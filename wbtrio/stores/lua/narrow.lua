-- Narrow one bucket. Mirrors narrow() of wbtrio/_bucket.py.
--
-- KEYS[1]  the bucket's key
-- ARGV[1]  see prelude.lua
-- ARGV[2]  interval (µs a token)      ARGV[3]  burst (tokens)
-- ARGV[4]  hint (a value)
-- ARGV[5]  charge (tokens)            ARGV[6]  remaining (tokens), -1: not known
-- ARGV[7]  fence: ticket, -1: none    ARGV[8]  fence: granted_at (µs)
-- ARGV[9]  full_in (µs from now)      ARGV[10] hold (µs from now)
-- ARGV[11] slow_interval (µs), 0: not known; then also
-- ARGV[12] burst_cut (tokens)         ARGV[13] slow_for (µs from now)
-- ARGV[14] undo: cost (tokens), 0: none; then also
-- ARGV[15] the grant's full_at (µs)   ARGV[16] the grant's granted (tokens)
-- Returns  {now, the value before, the value after}

local interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local charge, remaining, ticket = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local full_in, hold, slow_interval = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])

local bucket = read(KEYS[1], ARGV[4])
local before = value_of(bucket)

forget(bucket, now, interval, burst)
local undone = tonumber(ARGV[14])
if undone > 0 and bucket.full_at == tonumber(ARGV[15]) and bucket.granted == tonumber(ARGV[16]) then
  local paced_interval = pace(bucket, interval, burst)
  bucket.full_at = max(0, bucket.full_at - undone * paced_interval)
end
if slow_interval > 0 then
  local old_interval, old_burst = pace(bucket, interval, burst)
  bucket.slow_interval = max(bucket.slow_interval, slow_interval)
  bucket.burst_cut = max(bucket.burst_cut, tonumber(ARGV[12]))
  bucket.slow_until = max(bucket.slow_until, now + tonumber(ARGV[13]))
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
    bucket.full_at = max(bucket.full_at, tonumber(ARGV[8]) + (missing + later) * interval)
  end
end
if full_in > 0 then
  bucket.full_at = max(bucket.full_at, now + full_in)
end
if hold > 0 then
  bucket.not_before = max(bucket.not_before, now + hold)
end
return {now, before, write(KEYS[1], bucket, listed_interval, listed_burst)}
