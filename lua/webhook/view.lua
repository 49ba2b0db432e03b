--- One destination.
--- @args destinationId
--- @include "lib/call"
--- @include "webhook/_destination"
call.read()
local record = destination.view(destinationId)
if not record[1] then refuse('DESTINATION_NOT_FOUND') end
return call.answer(record)
