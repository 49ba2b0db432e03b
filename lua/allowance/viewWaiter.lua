--- A waiter.
--- @request read
--- @args waiterId
--- @reply waiter:waiter
--- @include lib/call allowance/_waiter
return call.answer({ waiter = waiter.view(waiterId) })
