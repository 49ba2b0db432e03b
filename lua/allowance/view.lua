--- An allowance with its balance of the current window and its cooldown.
--- @args allowanceId
--- @include "lib/call"
--- @include "allowance/_allowance"
call.read()
local record = allowance.read(allowanceId, now)
if not record then refuse('ALLOWANCE_NOT_FOUND') end
return call.answer(unpack(allowance.view(record)))
