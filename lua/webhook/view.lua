--- One destination.
--- @args destinationId
--- @reply destination:destination
--- @include "lib/call"
--- @include "webhook/_destination"
call.read()
return call.answer({ destination = destination.read(destinationId) })
