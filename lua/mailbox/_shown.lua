--- @include lib/records mailbox/_asked mailbox/_keyed mailbox/_message

--- The record as reads show it: without the lease of an ended claim, and without the delay of a BLOCKED message, whose
--- key may be all it waits for. Such changes must not be written, so this is a copy, unless the message is CLAIMED and
--- has neither prerequisites nor a question.
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
