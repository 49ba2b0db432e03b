--- @include "mailbox/_message"
--- @include "group/_decide"
--- @include "group/_task"
--- What the mailbox calls when a message that belongs to a group (record.groupId) changes. The hooks stand on the
--- message table because they finish messages in turn: includes cannot go round.
local ended = {
  ACKED = { counter = 'succeeded', tell = emit.task.succeeded },
  REJECTED = { counter = 'failed', tell = emit.task.failed },
  FAILED = { counter = 'failed', tell = emit.task.failed },
  EXPIRED = { counter = 'expired', tell = emit.task.expired },
  CANCELLED = { counter = 'cancelled', tell = emit.task.cancelled },
}

--- READY to CLAIMED.
function message.memberStarted(record)
  local groupRecord = group.load(record.groupId, 'pending', 'running')
  group.add(groupRecord, 'pending', -1)
  group.add(groupRecord, 'running', 1)
  emit.task.started(record.taskId, task.of(record))
end

--- CLAIMED, about to be READY again. A member of a decided group is not: it is cancelled here, and the answer is true.
function message.memberReleased(record, at)
  local groupRecord = group.load(record.groupId, 'state', 'scopeId', 'deadline', 'pending', 'running')
  if groupRecord.state == 'DECIDED' or group.isOverdue(groupRecord, at) or group.cancelOf(groupRecord) then
    message.finish(record, 'CANCELLED', at, emit.message.cancelled, 'GROUP_DECIDED')
    return true
  end
  group.add(groupRecord, 'running', -1)
  group.add(groupRecord, 'pending', 1)
end

--- READY or (held) CLAIMED to a final state, which may decide the group. Leaves the group's state in record.groupState.
function message.memberFinished(record, held, at, reason)
  local groupRecord, last = group.load(record.groupId), ended[record.state]
  group.add(groupRecord, held and 'running' or 'pending', -1)
  group.add(groupRecord, last.counter, 1)
  if record.state == 'ACKED' then group.add(groupRecord, 'unjudged', 1) end
  task.finish(record, reason)
  last.tell(record.taskId, task.of(record))
  group.evaluate(groupRecord, at)
  if held then group.retire(groupRecord, at) end
  record.groupState = groupRecord.state
end
