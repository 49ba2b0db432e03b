--- @include "mailbox/_message"
--- @include "group/_task"
--- @include "scope/_retain"
--- A finished message goes after the plan's window; what is left of its task, state and reason, stays as a tombstone:
--- the message's record without what made it a message. Calls do not find it, for it names no mailbox as its own.

local gone = { 'mailboxId', 'payload', 'result', 'resultMessageId', 'workKey', 'deadline', 'holder', 'holderSession', 'token',
  'claimedAt', 'leaseExpiresAt', 'sequence', 'groupState' }

--- Removes a finished message, if it is there.
function message.remove(messageId)
  local mailboxId, scopeId, taskId, state, workKey, finishedAt = unpack(redis.call('HMGET', keys.message(messageId), 'mailboxId',
    'scopeId', 'taskId', 'state', 'workKey', 'finishedAt'))
  if not mailboxId or not finishedAt then return end
  redis.call('ZREM', keys.messages(mailboxId), messageId)
  if workKey then redis.call('HDEL', keys.workKeys(mailboxId), workKey) end
  if state == 'FAILED' then redis.call('HINCRBY', keys.mailbox(mailboxId), 'failed', -1) end
  count.add(count.space, 'messages:' .. state, -1)
  count.add(count.space, 'retainedBytes', -redis.call('HSTRLEN', keys.message(messageId), 'payload')
    - redis.call('HSTRLEN', keys.message(messageId), 'result'))
  if message.taskIdOf(messageId, taskId) then
    redis.call('HSET', keys.message(messageId), 'tombstoneOf', mailboxId)
    redis.call('HDEL', keys.message(messageId), unpack(gone))
    redis.call('RPUSH', keys.tombstones(), finishedAt .. ' ' .. messageId)
    count.add(count.space, 'tombstones:' .. task.state(state), 1)
  else
    count.add(count.space, 'inbox:' .. state, -1)
    redis.call('UNLINK', keys.message(messageId))
    redis.call('ZREM', keys.scopeMessages(scopeId), messageId)
    scope.release(scopeId, finishedAt)
  end
end

--- Removes the oldest tombstones of tasks that finished at `through` or before, at most `most`; true when there may be
--- more.
function message.removeTombstones(through, most)
  local removed = 0
  for _, entry in ipairs(redis.call('LRANGE', keys.tombstones(), 0, most - 1)) do
    local finishedAt, messageId = string.match(entry, '^(%d+) (.*)$')
    if tonumber(finishedAt) > through then break end
    removed = removed + 1
    local state, scopeId = unpack(redis.call('HMGET', keys.message(messageId), 'state', 'scopeId'))
    count.add(count.space, 'tombstones:' .. task.state(state), -1)
    redis.call('UNLINK', keys.message(messageId))
    redis.call('ZREM', keys.scopeMessages(scopeId), messageId)
    scope.release(scopeId, finishedAt)
  end
  if removed > 0 then redis.call('LPOP', keys.tombstones(), removed) end
  return removed == most
end
