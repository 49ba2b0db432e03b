--- @include lib/records mailbox/_keyed mailbox/_message

--- The record as reads show it: without the lease of an ended claim, and the delay of a BLOCKED message, which may wait for
--- the one that its key has for now.
function message.shown(record)
  if record.state ~= 'CLAIMED' then record = records.copy(record) end
  if record.state ~= 'CLAIMED' then record.leaseExpiresAt = false end
  if record.state == 'BLOCKED' then
    record.readyAt = false
    record.keyHolder = record.key and not record.blockedOn and keyed.holder(record.mailboxId, record.key)
  end
  return record
end
