--- @include group/_group group/_task mailbox/_message mailbox/_packed

--- Fills in the state of a task that has not ended from its message. Once it has ended, its own record has it, which
--- outlives the message.
local function withState(found, record)
  if not found.state then found.state, found.attempts = task.state(record.state), record.attempts end
  return found
end

--- Adds their members to the records, in the order they joined. Packed messages of all of them are opened together.
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

--- A record with members, with their outcomes; and the size of these in bytes.
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

--- The damaged segment that has the message of a member, if any.
function group.damaged(record)
  for _, member in ipairs(record.tasks) do
    local damaged = packed.damaged(member.messageId)
    if damaged then return damaged end
  end
end

--- A record with members, without their outcomes; and whether all is there that is shown of them.
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
