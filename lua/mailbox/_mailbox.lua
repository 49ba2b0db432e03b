--- @record mailbox
--- @include "lib/records"
--- A mailbox's record.

--- What sends and receives need of it; nil when there is no such mailbox.
function mailbox.read(mailboxId)
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed')
end
