--- @include "lib/timer"
--- @include "lib/scope"
--- @include "mailbox/_message"
--- @include "mailbox/_ready"
--- Takes a READY or CLAIMED message to a final state, at the moment `at`; `what` names its event, `reason` may be nil.
--- The last claim's holder stays readable, its token only where the message was acknowledged (to know a repetition).
function message.finish(record, state, at, what, reason)
  local path = scope.path(record.scopeId)
  local held = record.state == 'CLAIMED'
  if held then
    redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'claimed', -1)
  else
    ready.remove(record.mailboxId, path, ready.member(record.sequence, record.id), record.readyAt)
  end
  if held or record.deadline then timer.disarm('mailbox:message:' .. spaceId .. ':' .. record.id) end
  if record.deadline then count.add(count.space, 'timers:ARMED', -1) end
  if state == 'FAILED' then redis.call('HINCRBY', keys.mailbox(record.mailboxId), 'failed', 1) end
  message.enter(record, state)
  if record.taskId then count.add(count.org, 'usedTasks', -1) end
  if reason then
    redis.call('HSET', keys.message(record.id), 'state', state, 'finishedAt', at, 'reason', reason)
  else
    redis.call('HSET', keys.message(record.id), 'state', state, 'finishedAt', at)
  end
  if held then redis.call('HDEL', keys.message(record.id), 'leaseExpiresAt', state == 'ACKED' and 'leaseExpiresAt' or 'token') end
  redis.call('ZADD', keys.finished(), at, 'mailbox:message:' .. spaceId .. ':' .. record.id)
  scope.addLive(path, -1)
  message.tell(record, what)
end
