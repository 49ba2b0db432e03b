--- The caller's permissions in the space, so that a caller is shown only what it may do. Counted as a read.
--- @request read
--- @reply permissions hasAllMailboxes
--- @include lib/call lib/caller
return call.answer({ permissions = caller.permissions(), hasAllMailboxes = caller.hasAllMailboxes() })
