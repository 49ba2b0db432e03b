--- @include lib/count lib/retained lib/unit group/_task mailbox/_message mailbox/_remove
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
