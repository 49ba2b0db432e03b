--- The time of this call, read once: epoch milliseconds, as a number and as text (cheaper to pass to Redis). Callers never
--- supply "now". `fraction`, in 1/4096 of a millisecond, orders what happens within one; an invocation of 32 requests
--- (src/redis/gathering.ts) steps through 32 of them.
--- @export clock now nowText fraction
local clock = {}
local now, nowText, fraction

--- At the start of an invocation.
function clock.start()
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  fraction = math.min(4064, math.floor(time[2] % 1000 * 4.096))
  nowText = string.format('%d', now)
end

--- The next request of the same invocation: the same millisecond, the next fraction.
function clock.step()
  fraction = math.min(4095, fraction + 1)
end
