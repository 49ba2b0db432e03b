--- The caller's permissions in the space, so that a caller is shown only what it may do, and whether its key is bound
--- to a holder. Counted as a read.
--- @request read
--- @reply permissions hasAllMailboxes hasOwnName
--- @include lib/call lib/caller
return call.answer({ permissions = caller.permissions(), hasAllMailboxes = caller.hasAllMailboxes(),
  hasOwnName = caller.ownName() ~= nil })
