--- A barrier as it stands.
--- @args barrierId
--- @include "lib/call"
--- @include "barrier/_barrier"
call.read()
return call.answer(barrier.values(barrier.read(barrierId)))
