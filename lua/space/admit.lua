--- Admits or refuses a request and counts it: for requests that are known to be invalid, so that errors of the caller and
--- the rate come first.
--- @reply
--- @include "lib/call"
call.read()
return call.answer()
