--- @include "group/_group"
--- @include "group/_task"
--- @include "mailbox/_message"
--- The one decision of a group.

--- Decides an undecided group, at the moment `at`: whoever waits is cancelled in the same step, so that no cancelled
--- member can be received; whoever works keeps the claim.
function group.decide(record, outcome, at)
  group.enter(record, 'DECIDED')
  records.set(record, 'outcome', outcome)
  records.set(record, 'decidedAt', at)
  if record.deadline then
    count.space('timers:ARMED', -1)
    timer.disarm('group:deadline', record.id)
  end
  if record.parentScopeId then records.add(keys.scope(record.parentScopeId), 'undecidedGroups', -1) end
  emit.group.decided(record.id, record)
  journal.wake(record.id)
  group.retire(record, at)
  if record.pending == 0 then return end
  for _, taskId in ipairs(redis.call('ZRANGE', keys.groupMembers(record.id), 0, -1)) do
    local found = task.load(taskId, 'messageId', 'state')
    local member = not found.state and message.read(found.messageId)
    if member and member.state == 'READY' then
      message.finish(member, 'CANCELLED', at, emit.message.cancelled, 'GROUP_DECIDED')
    end
  end
end

--- Decides if the condition is met, or out of reach. Called after every change that can make it so. A deadline that has
--- come meanwhile was first.
function group.evaluate(record, at)
  if record.state == 'DECIDED' then return end
  if group.isOverdue(record, at) then return group.decide(record, 'EXPIRED', record.deadline) end
  local sealed, alive = record.state == 'SEALED', record.pending + record.running
  local needed = record.threshold or 1
  if record.condition == 'ALL_TERMINAL' then
    if sealed and alive == 0 then group.decide(record, 'SATISFIED', at) end
  elseif record.accepted >= needed then
    group.decide(record, 'SATISFIED', at)
  elseif sealed and record.accepted + alive + record.unjudged < needed then
    group.decide(record, 'UNSATISFIABLE', at)
  end
end
