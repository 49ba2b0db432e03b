--- An allowance with its balance in the current window and its cooldown.
--- @request read
--- @args allowanceId
--- @reply allowance:allowance
--- @include lib/call allowance/_allowance
return call.answer({ allowance = allowance.view(allowanceId) })
