--- An allowance with its balance in the current window and its cooldown.
--- @args allowanceId
--- @reply allowance:allowance
--- @include "lib/call"
--- @include "allowance/_allowance"
call.read()
return call.answer({ allowance = allowance.view(allowanceId) })
