--- @include "lib/retained"
--- @include "mailbox/_message"
--- @include "group/_task"
--- @include "scope/_retain"
--- A finished message goes after the plan's window; what is left of its task, state and reason, stays as a tombstone:
--- the message's record without what made it a message. Calls do not find it, for it names no mailbox as its own.

local gone = { 'mailboxId', 'payload', 'result', 'resultMessageId', 'workKey', 'deadline', 'holder', 'holderSession', 'token',
  'claimedAt', 'leaseExpiresAt', 'place', 'groupState' }

local function removeRecord(messageId, scopeId, finishedAt)
  redis.call('UNLINK', keys.message(messageId))
  redis.call('ZREM', keys.scopeMessages(scopeId), messageId)
  scope.release(scopeId, finishedAt)
end

--- Removes a finished message, if it is there.
local function remove(messageId)
  local record = message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'state', 'workKey', 'finishedAt')
  if not record or not record.finishedAt then return end
  local mailboxId, state = record.mailboxId, record.state
  redis.call('ZREM', keys.messages(mailboxId), messageId)
  if record.workKey then redis.call('HDEL', keys.workKeys(mailboxId), record.workKey) end
  if state == 'FAILED' then redis.call('HINCRBY', keys.mailbox(mailboxId), 'failed', -1) end
  message.leave(state)
  count.add(count.space, 'retainedBytes', -redis.call('HSTRLEN', keys.message(messageId), 'payload')
    - redis.call('HSTRLEN', keys.message(messageId), 'result'))
  if record.taskId == '' then
    count.add(count.space, 'inbox:' .. state, -1)
    removeRecord(messageId, record.scopeId, record.finishedAt)
  else
    redis.call('HSET', keys.message(messageId), 'tombstoneOf', mailboxId)
    redis.call('HDEL', keys.message(messageId), unpack(gone))
    redis.call('RPUSH', keys.tombstones(), string.format('%d', record.finishedAt) .. ' ' .. messageId)
    count.add(count.space, 'tombstones:' .. task.state(state), 1)
  end
end

retained.events['message.acked'] = remove
retained.events['message.rejected'] = remove
retained.events['message.failed'] = remove
retained.events['message.expired'] = remove
retained.events['message.cancelled'] = remove

--- The oldest tombstones, of tasks that finished before what has just left the window.
function retained.steps.tombstones(through, most, window)
  local removed = 0
  for _, entry in ipairs(redis.call('LRANGE', keys.tombstones(), 0, most - 1)) do
    local finishedAt, messageId = string.match(entry, '^(%d+) (.*)$')
    if tonumber(finishedAt) > through - window then break end
    removed = removed + 1
    local record = message.load(messageId, 'scopeId', 'state')
    count.add(count.space, 'tombstones:' .. task.state(record.state), -1)
    removeRecord(messageId, record.scopeId, finishedAt)
  end
  if removed > 0 then redis.call('LPOP', keys.tombstones(), removed) end
  return removed == most
end
