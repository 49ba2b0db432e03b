--- @record mailbox
--- @include "lib/records"

--- The fields of a mailbox that send and recv need; nil if there is no such mailbox.
function mailbox.read(mailboxId)
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed')
end
