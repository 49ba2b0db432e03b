--- A barrier.
--- @args barrierId
--- @reply barrier:barrier
--- @include "lib/call"
--- @include "barrier/_barrier"
call.read()
return call.answer({ barrier = barrier.read(barrierId) })
