--- Submits a member task, which the group's mailbox delivers in the gate scope. input: JSON text, or '' for null.
--- The rare arguments: see mailbox/_options. unique '1': if the taskKey is known, replies with its member.
--- @request write
--- @args groupId taskKey unique tail taskTail
--- @long input
--- @reply taskId messageId scopeId state known
--- @include lib/call lib/id lib/maps lib/plan lib/refuse lib/volume group/_group group/_task mailbox/_mailbox
--- @include mailbox/_message mailbox/_options mailbox/_send scope/_scope
if prerequisites ~= '' and string.find(prerequisites, 'g' .. groupId, 1, true) then
  refuse('VALIDATION_FAILED', 'after must not name the group that the task is submitted to')
end
local record = group.read(groupId)
local known = unique == '1' and maps.get(keys.taskKeys(groupId), taskKey)
if known then
  local first = task.load(known, 'messageId', 'scopeId', 'state')
  local state = first.state or task.state(message.load(first.messageId, 'state').state)
  return call.answer({ taskId = known, messageId = first.messageId, scopeId = first.scopeId, state = state, known = 1 },
    'syscall')
end
group.needOpen(record)
if maps.get(keys.taskKeys(groupId), taskKey) then refuse('TASK_KEY_CONFLICT') end
local deadlineAt, readyAt = capacity.moments(deadline, delaySeconds)
local options = message.options(record.scopeId)
plan.needOperation()
capacity.forPayload('input', input)
if record.members >= group.maxMembers then refuse('GROUP_FULL', group.maxMembers) end
local box = mailbox.read(record.mailboxId)
capacity.forMessage(box, (deadlineAt and 1 or 0) + (readyAt and not message.willWait(options) and 1 or 0), true)
local payload = input ~= '' and input or 'null'
volume.need(#payload)

local member = { id = newId(tail), mailboxId = record.mailboxId, scopeId = record.scopeId, taskId = newId(taskTail),
  groupId = groupId, taskKey = taskKey, attempts = 0, payload = payload, deadline = deadlineAt,
  maxAttempts = tonumber(maxAttempts), readyAt = readyAt }
task.add(record, member)
group.add(record, 'pending', 1)
emit.task.submitted(member.taskId, task.of(member))
message.create(member, scope.path(record.scopeId), box, options)
return call.answer({ taskId = member.taskId, messageId = member.id, scopeId = member.scopeId, state = 'PENDING' },
  'operation')
