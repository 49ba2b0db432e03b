--- The space's effective limits.
--- @include "lib/call"
local limits = { call.read('requestsPerMinute', 'maxBacklog', 'maxPayloadBytes', 'maxLeaseSeconds', 'maxPendingWaiters', 'maxArmedTimers') }
limits[1] = rates.quota()
return call.answer(unpack(limits))
