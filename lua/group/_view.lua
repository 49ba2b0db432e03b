--- @include "group/_group"
--- @include "group/_task"
--- @include "mailbox/_message"
--- What reads show of a group.

--- The task with the state of its message, where that still says it: a message goes before its task does, and then the
--- task's own record says how it ended.
local function asItStands(found, record)
  if not found.state then found.state, found.attempts = task.state(record.state), record.attempts end
  return found
end

--- Its members, in the order they became members.
local function tasksOf(groupId)
  local found = redis.call('ZRANGE', keys.groupMembers(groupId), 0, -1)
  for i, taskId in ipairs(found) do found[i] = task.load(taskId) end
  return found
end

--- Puts the members and their outcomes into the record; returns it and the bytes of the outcomes.
function group.view(record)
  local bytes = 0
  record.tasks = tasksOf(record.id)
  for _, member in ipairs(record.tasks) do
    local sent = message.load(member.messageId, 'state', 'attempts', 'result', 'lastError')
    if sent then
      asItStands(member, sent).outcome, member.lastError = sent.result, sent.lastError
      bytes = bytes + #(sent.result or '') + #(sent.lastError or '')
    end
  end
  return record, bytes
end

--- Puts the members into the record, without their outcomes.
function group.summary(record)
  record.tasks = tasksOf(record.id)
  for _, member in ipairs(record.tasks) do
    local sent = message.load(member.messageId, 'state', 'attempts', 'lastError')
    if sent then asItStands(member, sent).lastError = sent.lastError end
  end
  return record
end
