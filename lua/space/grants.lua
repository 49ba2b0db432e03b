--- What the API key may do in the space: for callers that are shown only that. Counted as a read.
--- @request read
--- @reply permissions hasAllMailboxes
--- @include lib/call lib/caller
return call.answer({ permissions = caller.permissions(), hasAllMailboxes = caller.hasAllMailboxes() })
