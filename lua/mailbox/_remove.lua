--- @include lib/count lib/hooks lib/maps lib/records lib/sorted lib/unit group/_task mailbox/_mailbox
--- @include mailbox/_message mailbox/_others scope/_retain scope/_scope
--- Removes a finished message after the plan's retention window. Its task leaves a tombstone: the record, reduced to
--- how the task ended. Calls do not find it, as it has no mailboxId.

local removedFields = message.removedFields()
--- The fields that count towards the retained bytes.
local kept = { 'payload', 'result', 'lastError', 'progress' }

function message.removeRecord(messageId, scopeId, finishedAt)
  unit.delete(keys.message(messageId))
  sorted.remove(keys.scopeMessages(scopeId), messageId)
  scope.release(scopeId, finishedAt)
end

--- Removes a finished message, unless it was requeued and has finished again since `at`. If it ended twice at one
--- moment, the first call removes it and the second finds the tombstone.
function message.removeOld(messageId, at)
  -- Packed messages go with their segment.
  local record = message.stored(messageId, 'mailboxId', 'scopeId', 'taskId', 'state', 'workKey', 'finishedAt', 'place')
  if not record or not record.mailboxId or not record.finishedAt or record.finishedAt > at then return end
  sorted.remove(keys.messages(record.mailboxId), messageId)
  mailbox.letGo(record.mailboxId, 1)
  if record.workKey then maps.remove(keys.workKeys(record.mailboxId), record.workKey) end
  local rare = record.place and message.stored(messageId, 'key', 'questionId')
  if rare and rare.key then sorted.remove(keys.keyed(record.mailboxId, rare.key), messageId) end
  if rare and rare.questionId then asked.forget(messageId, record.finishedAt) end
  if message.requeueable[record.state] then
    sorted.remove(keys.requeueable(record.mailboxId, record.state), messageId)
  end
  if record.state == 'FAILED' and mailbox.read(record.mailboxId) then
    records.add(keys.mailbox(record.mailboxId), 'failed', -1)
  end
  message.remove(record.mailboxId, record.state)
  if mailbox.anyBlocked() then dependents.gone(messageId, record.state) end
  for _, field in ipairs(kept) do
    count.space('retainedBytes', -redis.call('HSTRLEN', keys.message(messageId), field))
  end
  if not record.taskId then
    count.space('inbox:' .. record.state, -1)
    message.removeRecord(messageId, record.scopeId, record.finishedAt)
  else
    records.set(record, 'tombstoneOf', record.mailboxId)
    for _, field in ipairs(removedFields) do records.set(record, field, false) end
    unit.push(keys.tombstones(), string.format('%d', record.finishedAt) .. ' ' .. messageId)
    count.space('tombstones:' .. task.state(record.state), 1)
  end
end

retained.events['message.acked'] = message.removeOld
retained.events['message.rejected'] = message.removeOld
retained.events['message.failed'] = message.removeOld
retained.events['message.expired'] = message.removeOld
retained.events['message.cancelled'] = message.removeOld

--- Removes the oldest tombstones. Their retention period starts when the message is removed.
function retained.steps.tombstones(through, maxRecords, windowMs)
  local removed = 0
  for _, tombstone in ipairs(redis.call('LRANGE', keys.tombstones(), 0, maxRecords - 1)) do
    local finishedAt, messageId = string.match(tombstone, '^(%d+) (.*)$')
    if tonumber(finishedAt) > through - windowMs then break end
    removed = removed + 1
    local record = message.load(messageId, 'scopeId', 'state')
    count.space('tombstones:' .. task.state(record.state), -1)
    message.removeRecord(messageId, record.scopeId, tonumber(finishedAt))
  end
  if removed > 0 then unit.command('LPOP', keys.tombstones(), removed) end
  return removed == maxRecords
end
