--- Admits or refuses a request and counts it: for requests that are known to be invalid, so that errors of the caller and
--- the rate come first.
--- @request read
--- @reply
--- @include lib/call
return call.answer()
