--- Counters of an organization's spaces, by their names and summed, and for how many milliseconds the oldest READY
--- message and the oldest WAITING waiter have waited. Looks at the first `most` spaces; replies how many it saw and how
--- many there are, first. For the metrics: no caller, no key.
--- @args counters most
--- @reply seen spaces sums readyMs waiterMs
--- @include "lib/clock"
--- @include "lib/space"
--- @include "webhook/_gauges"
--- @include "space/_oldest"
local names, sums = {}, {}
for name in string.gmatch(counters, '[^,]+') do names[#names + 1], sums[#sums + 1] = name, 0 end
local seen, readySince, waiterSince = 0, now, now
for _, id in ipairs(redis.call('ZRANGE', keys.spaces(), 0, most - 1)) do
  spaceId, seen = id, seen + 1
  for i, value in ipairs(redis.call('HMGET', keys.space(), unpack(names))) do
    sums[i] = sums[i] + (names[i] == 'outbox:UNREAD' and gauges[names[i]]() or tonumber(value) or 0)
  end
  readySince = math.min(readySince, gauges.oldestReadyAt(1) or now)
  waiterSince = math.min(waiterSince, tonumber(oldest.waiter() or now))
end
return { seen = seen, spaces = redis.call('ZCARD', keys.spaces()), sums = sums, readyMs = now - readySince, waiterMs = now - waiterSince }
