--- A hold.
--- @request read
--- @args holdId
--- @reply hold:hold
--- @include lib/call pool/_hold
return call.answer({ hold = hold.shown(hold.view(holdId)) })
