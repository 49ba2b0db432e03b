--- Records the verdict on a member task, ACCEPTED or REJECTED, which may decide the group. The first verdict is final.
--- @request write
--- @args groupId taskId verdict
--- @reply groupState outcome
--- @include lib/call lib/clock lib/records lib/refuse group/_decide group/_group group/_task scope/_scope
local record = group.read(groupId)
-- In a cancelled run, first decide the group and end its members.
local cancel = record.state ~= 'DECIDED' and scope.cancelFor(record)
if cancel then group.stop(record, cancel) end
local member = task.load(taskId, 'groupId', 'messageId', 'scopeId', 'state', 'verdict')
if not member or member.groupId ~= groupId then refuse('TASK_NOT_FOUND') end
local known, state = member.verdict, member.state
if known == verdict then return call.answer({ groupState = record.state, outcome = record.outcome }) end
if known then refuse('VERDICT_CONFLICT', known) end
-- The record has a state once the task has ended.
if verdict == 'ACCEPTED' and state ~= 'SUCCEEDED' then refuse('TASK_NOT_SUCCEEDED') end
if not state then refuse('TASK_NOT_TERMINAL') end

records.set(member, 'verdict', verdict)
if state == 'SUCCEEDED' then group.add(record, 'unjudged', -1) end
if verdict == 'ACCEPTED' then
  group.add(record, 'accepted', 1)
  emit.task.accepted(taskId, member)
else
  group.add(record, 'rejected', 1)
  emit.task.rejected(taskId, member)
end
group.evaluate(record, now)
return call.answer({ groupState = record.state, outcome = record.outcome }, 'operation')
