--- @record mailbox
--- @include "lib/later"
--- @include "lib/records"
--- A mailbox's record and its counters.

--- What sends and receives need of it; nil when there is no such mailbox.
function mailbox.read(mailboxId)
  local key = keys.mailbox(mailboxId)
  local record = records.known(key)
  if record then return record end
  later.settle(key)
  record = mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed')
  return record and records.keep(key, record)
end

--- Changes `ready` or `claimed`.
function mailbox.change(record, counter, by)
  records.set(record, counter, record[counter] + by)
end

--- Changes one of them by id: the record is not read for it.
function mailbox.add(mailboxId, counter, by)
  local key = keys.mailbox(mailboxId)
  local record = records.known(key)
  if record then mailbox.change(record, counter, by) else later.add(key, counter, by) end
end
