--- A waiter.
--- @args waiterId
--- @include "lib/call"
--- @include "allowance/_waiter"
call.read()
local values = waiter.view(waiterId)
if not values[1] then refuse('WAITER_NOT_FOUND') end
return call.answer(unpack(values))
