--- @record mailbox
--- @include "lib/records"
--- A mailbox's record and its counters.

--- What sends and receives need of it; nil when there is no such mailbox.
function mailbox.read(mailboxId)
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'sequence')
end

--- The sequence number of the next message that becomes ready, as text.
function mailbox.nextSequence(record)
  records.set(record, 'sequence', record.sequence + 1)
  return string.format('%d', record.sequence)
end
