--- @include "lib/scope"
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
  local sequence = mailbox.nextSequence(box)
  ready.add(record.mailboxId, path, record.id, at, string.format('%d', at), sequence)
  redis.call('HSET', keys.message(record.id), 'state', 'READY', 'sequence', sequence)
  redis.call('HDEL', keys.message(record.id), 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt')
  lease.drop(record.id)
  emit.message.retried(record.id, record)
end
