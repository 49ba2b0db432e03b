--- @include "mailbox/_message"
--- @include "group/_decide"
--- @include "group/_task"
--- What the mailbox calls when a message that belongs to a group (record.groupId) changes. The hooks stand on the
--- message table because they finish messages in turn: includes cannot go round.
local counterOf = { ACKED = 'succeeded', REJECTED = 'failed', FAILED = 'failed', EXPIRED = 'expired', CANCELLED = 'cancelled' }

--- READY to CLAIMED.
function message.memberStarted(record)
  local groupRecord = { id = record.groupId }
  group.add(groupRecord, 'pending', -1)
  group.add(groupRecord, 'running', 1)
  task.tell(record, 'started')
end

--- CLAIMED, about to be READY again. A member of a decided group is not: it is cancelled here, and the answer is true.
function message.memberReleased(record, at)
  local groupRecord, state = { id = record.groupId }, nil
  state, groupRecord.deadline = unpack(redis.call('HMGET', keys.group(groupRecord.id), 'state', 'deadline'))
  if state == 'DECIDED' or group.isOverdue(groupRecord, at) then
    message.finish(record, 'CANCELLED', at, 'cancelled', 'GROUP_DECIDED')
    return true
  end
  group.add(groupRecord, 'running', -1)
  group.add(groupRecord, 'pending', 1)
end

--- READY or (held) CLAIMED to a final state, which may decide the group. Leaves the group's state in record.groupState.
function message.memberFinished(record, held, at, reason)
  local groupRecord = group.read(record.groupId)
  local counter = counterOf[record.state]
  group.add(groupRecord, held and 'running' or 'pending', -1)
  group.add(groupRecord, counter, 1)
  if counter == 'succeeded' then group.add(groupRecord, 'unjudged', 1) end
  task.finish(record, reason)
  task.tell(record, counter)
  group.evaluate(groupRecord, at)
  if held then group.retire(groupRecord, at) end
  record.groupState = groupRecord.state
end
