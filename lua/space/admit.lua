--- Lets a request in or refuses it, and counts it: for requests whose shape is already known to be wrong.
--- @reply
--- @include "lib/call"
call.read()
return call.answer()
