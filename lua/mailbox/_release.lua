--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- @include "mailbox/_lease"
--- Gives a CLAIMED message back to its mailbox, ready since `at`; cancels it where its group is decided.
function message.release(record, at)
  if record.groupId and message.memberReleased(record, at) then return end
  local path = scope.path(record.scopeId)
  message.enter(record, 'READY')
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'claimed', -1)
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'ready', 1)
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'sequence', 1)
  local sequence = redis.call('HGET', keys.mailbox(record.mailboxId), 'sequence')
  ready.add(record.mailboxId, path, record.id, at, string.format('%d', at), sequence)
  redis.call('HSET', keys.message(record.id), 'state', 'READY', 'sequence', sequence)
  redis.call('HDEL', keys.message(record.id), 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt')
  lease.drop(record.id)
  message.tell(record, 'retried')
end
