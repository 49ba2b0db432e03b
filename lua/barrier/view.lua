--- A barrier.
--- @request read
--- @args barrierId
--- @reply barrier:barrier
--- @include lib/call barrier/_barrier
return call.answer({ barrier = barrier.read(barrierId) })
