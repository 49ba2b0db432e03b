--- @include lib/clock lib/count lib/journal lib/records lib/timer group/_group group/_task mailbox/_end
--- @include mailbox/_mailbox mailbox/_message mailbox/_others scope/_ending scope/_scope

--- Decides an undecided group at the time `at`. Members that wait are cancelled in the same step, so that none can be
--- received. CLAIMED members keep their claims, except in a cancelled run. cause: the cause of the events; nil for the
--- current request.
function group.decide(record, outcome, at, cause)
  group.enter(record, 'DECIDED')
  records.set(record, 'outcome', outcome)
  records.set(record, 'decidedAt', at)
  if record.deadline then
    count.space('timers:ARMED', -1)
    timer.disarm('group:deadline', record.id)
  end
  records.add(keys.mailbox(record.mailboxId), 'undecidedGroups', -1)
  if record.parentScopeId then records.add(keys.scope(record.parentScopeId), 'undecidedGroups', -1) end
  emit.group.decided(record.id, record, cause)
  journal.wake(record.id)
  group.retire(record, at)
  if mailbox.anyBlocked() then dependents.ended(record.id, outcome, at, cause) end
  if record.pending == 0 and outcome ~= 'CANCELLED' then return end
  for _, taskId in ipairs(group.memberIds(record.id)) do
    local found = task.load(taskId, 'messageId', 'state')
    local member = not found.state and message.read(found.messageId)
    local cancel = member and not member.finishedAt and scope.cancelFor(member)
    if cancel then
      message.stop(member, cancel, cause)
    elseif member and (member.state ~= 'CLAIMED' and message.isLive(member)) then
      message.finish(member, 'CANCELLED', at, emit.message.cancelled, 'GROUP_DECIDED', cause)
    end
  end
end

--- Decides an undecided group of a cancelled run. A deadline before the cancel takes precedence.
function group.stop(record, cancel, cause)
  if group.isOverdue(record, cancel.cancelledAt) then return group.decide(record, 'EXPIRED', record.deadline, cause) end
  group.decide(record, 'CANCELLED', now, ending.count(cancel, 'cancelledGroups'))
end

--- Decides the group if its condition is met or can no longer be met. Call it after every change that may cause that. A
--- cancel or a past deadline takes precedence.
function group.evaluate(record, at, cause)
  if record.state == 'DECIDED' then return end
  local cancel = scope.cancelFor(record)
  if cancel then return group.stop(record, cancel, cause) end
  if group.isOverdue(record, at) then return group.decide(record, 'EXPIRED', record.deadline, cause) end
  local sealed, alive = record.state == 'SEALED', record.pending + record.running
  local needed = record.threshold or 1
  if record.condition == 'ALL_TERMINAL' then
    if sealed and alive == 0 then group.decide(record, 'SATISFIED', at, cause) end
  elseif record.accepted >= needed then
    group.decide(record, 'SATISFIED', at, cause)
  elseif sealed and record.accepted + alive + record.unjudged < needed then
    group.decide(record, 'UNSATISFIABLE', at, cause)
  end
end
