--- @include "mailbox/_message"
--- @include "group/_decide"
--- @include "group/_task"
--- What the mailbox calls when a message that belongs to a group (record.groupId) changes. The hooks stand on the
--- message table because they finish messages in turn: includes cannot go round.
local counterOf = { ACKED = 'succeeded', REJECTED = 'failed', FAILED = 'failed', EXPIRED = 'expired', CANCELLED = 'cancelled' }

--- READY to CLAIMED.
function message.memberStarted(record)
  local gate = { id = record.groupId }
  group.add(gate, 'pending', -1)
  group.add(gate, 'running', 1)
  task.tell(record, 'started')
end

--- CLAIMED, about to be READY again. A member of a decided group is not: it is cancelled here, and the answer is true.
function message.memberReleased(record, at)
  local gate, state = { id = record.groupId }, nil
  state, gate.deadline = unpack(redis.call('HMGET', keys.group(gate.id), 'state', 'deadline'))
  if state == 'DECIDED' or group.isOverdue(gate, at) then
    message.finish(record, 'CANCELLED', at, 'cancelled', 'GROUP_DECIDED')
    return true
  end
  group.add(gate, 'running', -1)
  group.add(gate, 'pending', 1)
end

--- READY or (held) CLAIMED to a final state, which may decide the group. Leaves the group's state in record.groupState.
function message.memberFinished(record, held, at, reason)
  local gate = group.read(record.groupId)
  local counter = counterOf[record.state]
  group.add(gate, held and 'running' or 'pending', -1)
  group.add(gate, counter, 1)
  if counter == 'succeeded' then group.add(gate, 'unjudged', 1) end
  task.finish(record, reason)
  task.tell(record, counter)
  group.evaluate(gate, at)
  if held then group.retire(gate, at) end
  record.groupState = gate.state
end
