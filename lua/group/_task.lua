--- @record task
--- @include lib/maps lib/records lib/sorted group/_group
--- A member task. Once it has ended, its record keeps its state, reason and attempts, because it outlives its message.
--- Until then the message has them.
local stateOf = { READY = 'PENDING', DELAYED = 'PENDING', BLOCKED = 'PENDING', CLAIMED = 'RUNNING', ACKED = 'SUCCEEDED',
  REJECTED = 'FAILED', FAILED = 'FAILED', EXPIRED = 'EXPIRED', CANCELLED = 'CANCELLED' }

--- The task's state for a message's state.
function task.state(messageState)
  return stateOf[messageState]
end

--- Adds a message's task to a group; the caller adds it to the counter of its state. member: the message's record, with
--- taskId, taskKey (nil for a task that joined) and deadline.
function task.add(groupRecord, member)
  group.add(groupRecord, 'members', 1)
  sorted.add(keys.groupMembers(groupRecord.id), groupRecord.members, member.taskId)
  if member.taskKey then maps.put(keys.taskKeys(groupRecord.id), member.taskKey, member.taskId) end
  task.insert({ id = member.taskId, groupId = groupRecord.id, messageId = member.id, scopeId = member.scopeId,
    taskKey = member.taskKey, deadline = member.deadline })
end

--- Stores the final state of a member in its task's record. reason may be nil.
function task.finish(member, reason)
  local key = keys.task(member.taskId)
  records.put(key, 'state', stateOf[member.state])
  records.put(key, 'attempts', member.attempts)
  if reason then records.put(key, 'reason', reason) end
end

--- The task as its events show it, made from its message. A message about to be sent has no state yet.
function task.of(member)
  return { scopeId = member.scopeId, groupId = member.groupId, messageId = member.id,
    state = stateOf[member.state or 'READY'], attempts = member.attempts }
end
