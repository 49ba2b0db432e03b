--- The time of this call, read once: epoch milliseconds, as a number and as text (cheaper to pass to Redis). Callers
--- never supply "now". `fraction`, in 1/4096 of a millisecond, orders what happens within one millisecond; each request
--- of an invocation advances it by one, 32 at most (src/engine/redis/gathering.ts).
--- @export clock now nowText fraction
local clock = {}
local now, nowText, fraction

function clock.start()
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  fraction = math.min(4064, math.floor(time[2] % 1000 * 4.096))
  nowText = string.format('%d', now)
end

--- Advances to the next request of the invocation: the same millisecond, the next fraction.
function clock.step()
  fraction = math.min(4095, fraction + 1)
end
