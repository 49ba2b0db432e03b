--- Admits or refuses a request and counts it. It is run for requests already known to be invalid, so that errors about
--- the caller and the rate come first.
--- @request read
--- @reply
--- @include lib/call
return call.answer()
