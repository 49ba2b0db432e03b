--- @include lib/clock lib/records group/_group group/_task mailbox/_others
--- Members whose messages are requeued.

--- Why a member cannot be requeued: an error's code, and the outcome of its decided group or the verdict on it.
function members.obstacle(record)
  local groupRecord = group.load(record.groupId)
  if not groupRecord or groupRecord.state == 'DECIDED' or group.isOverdue(groupRecord, now) then
    return 'GROUP_DECIDED', groupRecord and groupRecord.outcome or 'EXPIRED'
  end
  local verdict = task.load(record.taskId, 'groupId', 'verdict').verdict
  if verdict then return 'VERDICT_CONFLICT', verdict end
end

--- From a final state `from` to READY. Until it ends again, its state is read from its message.
function members.requeued(record, from)
  local groupRecord, key = group.load(record.groupId), keys.task(record.taskId)
  group.add(groupRecord, string.lower(task.state(from)), -1)
  group.add(groupRecord, 'pending', 1)
  for _, field in ipairs({ 'state', 'reason', 'attempts' }) do records.put(key, field, false) end
  if not record.deadline then records.put(key, 'deadline', false) end
  emit.task.requeued(record.taskId, task.of(record))
end
