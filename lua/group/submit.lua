--- Submits a member task, delivered through the group's mailbox in its gate scope. input: JSON text, '' for null; deadline:
--- epoch milliseconds or ''.
--- @args groupId taskKey deadline tail taskTail
--- @long input
--- @reply taskId messageId scopeId
--- @include "lib/call"
--- @include "lib/id"
--- @include "mailbox/_create"
--- @include "group/_group"
--- @include "group/_task"
local replay, maxBacklog, maxPayloadBytes, maxArmedTimers, queued, claimed, armed = call.open('maxBacklog', 'maxPayloadBytes',
  'maxArmedTimers', 'messages:READY', 'messages:CLAIMED', 'timers:ARMED', 'retainedBytes')
if replay then return replay end
local record = group.read(groupId)
group.needOpen(record)
if maps.get(keys.taskKeys(groupId), taskKey) then refuse('TASK_KEY_CONFLICT') end
if deadline ~= '' and tonumber(deadline) <= now then refuse('VALIDATION_FAILED', 'deadline must lie in the future') end
plan.needOperation()
if #input > tonumber(maxPayloadBytes) then refuse('PAYLOAD_TOO_LARGE', 'input ' .. maxPayloadBytes) end
if record.members >= group.maxMembers then refuse('GROUP_FULL', group.maxMembers) end
local box = mailbox.read(record.mailboxId)
if box.ready + box.claimed >= box.backlogLimit then refuse('BACKLOG_FULL', 'mailbox ' .. box.backlogLimit) end
if queued + claimed >= tonumber(maxBacklog) then refuse('BACKLOG_FULL', 'space ' .. maxBacklog) end
if deadline ~= '' and tonumber(armed) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
plan.needTask()

local member = { id = newId(tail), mailboxId = record.mailboxId, scopeId = record.scopeId, taskId = newId(taskTail), groupId = groupId,
  taskKey = taskKey, attempts = 0, payload = input ~= '' and input or 'null', deadline = tonumber(deadline) }
task.add(record, member)
group.add(record, 'pending', 1)
emit.task.submitted(member.taskId, task.of(member))
message.create(member, scope.path(record.scopeId), box)
return call.done({ taskId = member.taskId, messageId = member.id, scopeId = member.scopeId })
