--- @include lib/clock lib/records group/_decide group/_group group/_task mailbox/_end mailbox/_message mailbox/_others
--- @include scope/_scope
--- The effect on a task group when the message of a member changes (mailbox/_others).
local outcomes = {
  ACKED = { counter = 'succeeded', emitter = emit.task.succeeded },
  REJECTED = { counter = 'failed', emitter = emit.task.failed },
  FAILED = { counter = 'failed', emitter = emit.task.failed },
  EXPIRED = { counter = 'expired', emitter = emit.task.expired },
  CANCELLED = { counter = 'cancelled', emitter = emit.task.cancelled },
}

--- READY to CLAIMED.
function members.started(record)
  local groupRecord = group.load(record.groupId, 'pending', 'running')
  group.add(groupRecord, 'pending', -1)
  group.add(groupRecord, 'running', 1)
  emit.task.started(record.taskId, task.of(record))
end

--- What says whether the group of a member is decided, with the counters that a member's change needs.
local function standing(record)
  return group.load(record.groupId, 'state', 'scopeId', 'deadline', 'pending', 'running')
end

--- The outcome of a decided group, or the outcome that a deadline or cancel due at `at` gives it; nil if undecided.
local function outcomeOf(groupRecord, at)
  if groupRecord.state == 'DECIDED' then return group.load(groupRecord.id, 'outcome').outcome end
  if group.isOverdue(groupRecord, at) then return 'EXPIRED' end
  return scope.cancelFor(groupRecord) and 'CANCELLED' or nil
end

function members.overdue(record)
  local groupRecord = standing(record)
  return groupRecord.state ~= 'DECIDED' and group.isOverdue(groupRecord, now)
end

function members.decided(record)
  return outcomeOf(standing(record), now)
end

--- CLAIMED, about to wait again. If its group is decided, cancels the member instead and returns true.
function members.released(record, at)
  local groupRecord = standing(record)
  if outcomeOf(groupRecord, at) then
    message.finish(record, 'CANCELLED', at, emit.message.cancelled, 'GROUP_DECIDED')
    return true
  end
  group.add(groupRecord, 'running', -1)
  group.add(groupRecord, 'pending', 1)
end

--- A live message to a final state, which may decide the group. For an ACKED message, sets record.groupState to the
--- group's state.
function members.finished(record, wasClaimed, at, reason, cause)
  local groupRecord, outcome = group.load(record.groupId), outcomes[record.state]
  group.add(groupRecord, wasClaimed and 'running' or 'pending', -1)
  group.add(groupRecord, outcome.counter, 1)
  if record.state == 'ACKED' then group.add(groupRecord, 'unjudged', 1) end
  task.finish(record, reason)
  outcome.emitter(record.taskId, task.of(record), cause)
  group.evaluate(groupRecord, at, cause)
  if wasClaimed then group.retire(groupRecord, at) end
  if record.state == 'ACKED' then records.set(record, 'groupState', groupRecord.state) end
end
