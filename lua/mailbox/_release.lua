--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- Gives a CLAIMED message back to its mailbox, ready since `at`; the event `what` says why.
function message.release(record, at)
  local path = scope.path(record.scopeId)
  redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'claimed', -1)
  message.enter(record, 'READY')
  local sequence = ready.add(record.mailboxId, path, record.id, at)
  redis.call('HSET', keys.message(record.id), 'state', 'READY', 'readyAt', at, 'sequence', sequence)
  redis.call('HDEL', keys.message(record.id), 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt')
  local member = 'mailbox:message:' .. spaceId .. ':' .. record.id
  if record.deadline then timer.arm(member, record.deadline) else timer.disarm(member) end
  message.tell(record, 'retried')
end
