--- A destination.
--- @request read
--- @args destinationId
--- @reply destination:destination
--- @include lib/call webhook/_destination
return call.answer({ destination = destination.view(destinationId) })
