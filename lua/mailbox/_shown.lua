--- @include mailbox/_asked mailbox/_keyed mailbox/_message

--- The record as reads show it: without the lease of an ended claim, and the delay of a BLOCKED message, which may wait for
--- the one that its key has for now. One that is after others is a copy, as is a BLOCKED one: what is shown otherwise than
--- it is stored must not be written.
function message.shown(record)
  local isBlocked = record.state == 'BLOCKED'
  if isBlocked or record.prerequisites then
    local copy = {}
    for field, value in pairs(record) do copy[field] = value end
    record = copy
  end
  if record.state ~= 'CLAIMED' then record.leaseExpiresAt = false end
  if isBlocked then
    record.readyAt = false
    record.keyHolder = record.key and not record.blockedOn and keyed.holder(record.mailboxId, record.key)
  end
  if record.questionId then record.question = asked.find(record.questionId) end
  return record
end
