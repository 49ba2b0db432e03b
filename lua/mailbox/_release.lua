--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- Gives a CLAIMED message back to its mailbox, ready since `at`.
function message.release(record, at)
  local path = scope.path(record.scopeId)
  message.enter(record, 'READY')
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'claimed', -1)
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'ready', 1)
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'sequence', 1)
  local sequence = redis.call('HGET', keys.mailbox(record.mailboxId), 'sequence')
  ready.add(record.mailboxId, path, record.id, at, string.format('%d', at), sequence)
  redis.call('HSET', keys.message(record.id), 'state', 'READY', 'sequence', sequence)
  redis.call('HDEL', keys.message(record.id), 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt')
  local member = 'mailbox:message:' .. spaceId .. ':' .. record.id
  if record.deadline then timer.arm(member, record.deadline) else timer.disarm(member) end
  message.tell(record, 'retried')
end
