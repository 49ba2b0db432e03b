--- Counters of the space's record, by their names: what its scripts have counted, however much is stored.
--- @args counters
--- @include "lib/call"
local names = {}
for name in string.gmatch(counters, '[^,]+') do names[#names + 1] = name end
return call.answer(now, { call.read(unpack(names)) })
