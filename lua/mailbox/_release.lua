--- @include "scope/_scope"
--- @include "mailbox/_message"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_ready"
--- @include "mailbox/_lease"
local claimFields = { 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt' }

--- Makes a CLAIMED message READY again since `at`, or CANCELLED if its group has been decided.
function message.release(record, at)
  if record.groupId and message.memberReleased(record, at) then return end
  local path = scope.path(record.scopeId)
  message.enter(record, 'READY')
  local box = mailbox.read(record.mailboxId)
  records.set(box, 'ready', box.ready + 1)
  records.set(box, 'claimed', box.claimed - 1)
  records.set(record, 'place', ready.placeAt(at))
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at))
  for _, field in ipairs(claimFields) do records.set(record, field, false) end
  lease.drop(record.id)
  emit.message.retried(record.id, record)
end
