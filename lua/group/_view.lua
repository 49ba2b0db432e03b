--- @include "group/_group"
--- @include "group/_task"
--- @include "mailbox/_message"

--- Fills in the state of a task that has not ended from its message. Once it has ended, its own record has it, which
--- outlives the message.
local function withState(found, record)
  if not found.state then found.state, found.attempts = task.state(record.state), record.attempts end
  return found
end

--- The members in the order they joined.
local function tasksOf(groupId)
  local found = redis.call('ZRANGE', keys.groupMembers(groupId), 0, -1)
  for i, taskId in ipairs(found) do found[i] = task.load(taskId) end
  return found
end

--- Adds members with outcomes to the record; returns it and the size of the outcomes in bytes.
function group.view(record)
  local bytes = 0
  record.tasks = tasksOf(record.id)
  for _, member in ipairs(record.tasks) do
    local sent = message.load(member.messageId, 'state', 'attempts', 'result')
    if sent then
      withState(member, sent).outcome = sent.result
      bytes = bytes + #(sent.result or '')
    end
  end
  return record, bytes
end

--- Adds members without outcomes to the record.
function group.summary(record)
  record.tasks = tasksOf(record.id)
  for _, member in ipairs(record.tasks) do
    if not member.state then withState(member, message.load(member.messageId, 'state', 'attempts')) end
  end
  return record
end
