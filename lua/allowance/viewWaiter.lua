--- A waiter.
--- @args waiterId
--- @reply waiter:waiter
--- @include "lib/call"
--- @include "allowance/_waiter"
call.read()
return call.answer({ waiter = waiter.view(waiterId) })
