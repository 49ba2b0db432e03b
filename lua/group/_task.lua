--- @record task
--- @include "group/_group"
--- A member task. Its record holds what outlives its message: state, reason and attempts once it is terminal; until
--- then the message has them.
local stateOf = { READY = 'PENDING', DELAYED = 'PENDING', CLAIMED = 'RUNNING', ACKED = 'SUCCEEDED', REJECTED = 'FAILED', FAILED = 'FAILED',
  EXPIRED = 'EXPIRED', CANCELLED = 'CANCELLED' }

--- The state of a message's task.
function task.state(messageState)
  return stateOf[messageState]
end

--- Makes the task of a message a member; the caller counts it in its state. member: the message's record, with taskId,
--- taskKey (nil: joined) and deadline.
function task.add(groupRecord, member)
  group.add(groupRecord, 'members', 1)
  sorted.add(keys.groupMembers(groupRecord.id), groupRecord.members, member.taskId)
  if member.taskKey then maps.put(keys.taskKeys(groupRecord.id), member.taskKey, member.taskId) end
  task.insert({ id = member.taskId, groupId = groupRecord.id, messageId = member.id, scopeId = member.scopeId,
    taskKey = member.taskKey, deadline = member.deadline })
end

--- Keeps the final state of a member with its task; `reason` may be nil.
function task.finish(member, reason)
  local key = keys.task(member.taskId)
  records.put(key, 'state', stateOf[member.state])
  records.put(key, 'attempts', member.attempts)
  if reason then records.put(key, 'reason', reason) end
end

--- The task as its events show it, of its message as it stands; one that is only about to be sent has no state.
function task.of(member)
  return { scopeId = member.scopeId, groupId = member.groupId, messageId = member.id, state = stateOf[member.state or 'READY'],
    attempts = member.attempts }
end
