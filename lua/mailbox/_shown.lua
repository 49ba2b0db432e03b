--- @include lib/records mailbox/_asked mailbox/_keyed mailbox/_message

--- The record as reads show it: without the lease of an ended claim, and the delay of a BLOCKED message, which may wait for
--- the one that its key has for now. What is shown otherwise than it is stored must not be written, so it is a copy, unless the
--- message is just CLAIMED.
function message.shown(record)
  local isBlocked = record.state == 'BLOCKED'
  if record.state ~= 'CLAIMED' or record.prerequisites or record.questionId then record = records.copy(record) end
  if record.state ~= 'CLAIMED' then record.leaseExpiresAt = false end
  if isBlocked then
    record.readyAt = false
    record.keyHolder = record.key and not record.blockedOn and keyed.holder(record.mailboxId, record.key)
  end
  if record.questionId then record.question = asked.find(record.questionId) end
  return record
end
