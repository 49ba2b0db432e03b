--- @include "scope/_scope"
--- @include "mailbox/_message"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_ready"
--- @include "mailbox/_lease"
--- Gives a CLAIMED message back to its mailbox, ready since `at`; cancels it where its group is decided.
function message.release(record, at)
  if record.groupId and message.memberReleased(record, at) then return end
  local path = scope.path(record.scopeId)
  message.enter(record, 'READY')
  local box = mailbox.read(record.mailboxId)
  mailbox.change(box, 'ready', 1)
  mailbox.change(box, 'claimed', -1)
  local place = ready.placeAt(at)
  ready.add(record.mailboxId, path, place .. record.id, at, string.format('%d', at))
  redis.call('HSET', keys.message(record.id), 'state', 'READY', 'place', place)
  redis.call('HDEL', keys.message(record.id), 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt')
  lease.drop(record.id)
  emit.message.retried(record.id, record)
end
