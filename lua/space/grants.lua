--- What the API key may do in the space: for callers that are shown only that. Counted as a read.
--- @reply permissions
--- @include "lib/call"
call.read()
return call.answer({ permissions = caller.permissions() })
