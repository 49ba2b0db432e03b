--- @include group/_group group/_task mailbox/_message mailbox/_packed

--- Fills in the state of a task that has not ended, from its message. A task that has ended has the state in its own
--- record, which outlives the message.
local function withState(found, record)
  if not found.state then found.state, found.attempts = task.state(record.state), record.attempts end
  return found
end

--- Adds its members to each record, in the order they joined. All their packed messages are opened together.
function group.withMembers(list)
  local messageIds = {}
  for _, record in ipairs(list) do
    record.tasks = group.memberIds(record.id)
    for i, taskId in ipairs(record.tasks) do
      local member = task.load(taskId)
      record.tasks[i], messageIds[#messageIds + 1] = member, member.messageId
    end
  end
  packed.ahead(messageIds, 1)
  return list
end

--- Adds the members' outcomes to a record with members. Returns the record and the size of the outcomes in bytes.
function group.view(record)
  local bytes = 0
  for _, member in ipairs(record.tasks) do
    local sent = message.load(member.messageId, 'state', 'attempts', 'result', 'lastError')
    if sent then
      withState(member, sent).outcome, member.lastError = sent.result, sent.lastError
      bytes = bytes + #(sent.result or '') + #(sent.lastError or '')
    end
  end
  return record, bytes
end

--- The damaged segment that holds a member's message, if any.
function group.damaged(record)
  for _, member in ipairs(record.tasks) do
    local damaged = packed.damaged(member.messageId)
    if damaged then return damaged end
  end
end

--- Adds the members' states, without outcomes, to a record with members. Returns the record and whether all could be
--- read.
function group.summary(record)
  local isWhole = true
  for _, member in ipairs(record.tasks) do
    local isDamaged = packed.damaged(member.messageId)
    local sent = not isDamaged and message.load(member.messageId, 'state', 'attempts', 'lastError')
    if sent then withState(member, sent).lastError = sent.lastError end
    isWhole = isWhole and not isDamaged
  end
  return record, isWhole
end
