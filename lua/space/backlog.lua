--- Counters of the space's record, by their names, and the moments since which the oldest READY message and the oldest
--- WAITING waiter wait (false: none does).
--- @args counters
--- @include "lib/call"
--- @include "webhook/_unread"
--- @include "space/_oldest"
local names = {}
for name in string.gmatch(counters, '[^,]+') do names[#names + 1] = name end
local values = { call.read(unpack(names)) }
for i, name in ipairs(names) do
  if name == 'outbox:UNREAD' then values[i] = unread() end
end
return call.answer(now, values, gauges.oldestReadyAt(), oldest.waiter())
