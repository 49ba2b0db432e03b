--- A waiter.
--- @request read
--- @args waiterId
--- @reply waiter:waiter
--- @include "lib/call"
--- @include "allowance/_waiter"
return call.answer({ waiter = waiter.view(waiterId) })
