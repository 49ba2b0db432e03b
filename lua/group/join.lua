--- Adds a task that belongs to no group and is PENDING, RUNNING or SUCCEEDED to an OPEN group. The task keeps its
--- mailbox and scope.
--- @request write
--- @args groupId taskId
--- @reply groupState members
--- @include lib/call lib/plan lib/records lib/refuse group/_group group/_task mailbox/_prerequisite mailbox/_message
--- @include scope/_scope
local counterOf = { READY = 'pending', DELAYED = 'pending', BLOCKED = 'pending', CLAIMED = 'running',
  ACKED = 'succeeded' }
local record = group.read(groupId)
local joined = task.load(taskId, 'groupId')
if joined and joined.groupId == groupId then
  return call.answer({ groupState = record.state, members = record.members })
end
group.needOpen(record)
if joined then refuse('TASK_NOT_JOINABLE', 'GROUP') end
-- A task outside groups has its message's id; a member task has its own.
local member = message.read(taskId)
if not member or member.taskId ~= taskId then refuse('TASK_NOT_FOUND', 'taskId') end
local counter = counterOf[member.state]
if counter and counter ~= 'succeeded' and scope.cancelFor(member) then
  refuse('TASK_NOT_JOINABLE', 'CANCELLED')
end
if not counter then refuse('TASK_NOT_JOINABLE', task.state(member.state)) end
if prerequisite.isAfter(member, groupId) then refuse('TASK_NOT_JOINABLE', 'AFTER') end
plan.needOperation()
if record.members >= group.maxMembers then refuse('GROUP_FULL', group.maxMembers) end

if member.mailboxId ~= record.mailboxId then group.addMailbox(record, member.mailboxId) end
message.unpack(member)
records.set(member, 'groupId', groupId)
task.add(record, member)
group.add(record, counter, 1)
if counter == 'succeeded' then
  group.add(record, 'unjudged', 1)
  task.finish(member)
end
emit.group.task_joined(groupId, { scopeId = record.scopeId, state = record.state, taskId = taskId,
  members = record.members })
return call.answer({ groupState = record.state, members = record.members }, 'operation')
