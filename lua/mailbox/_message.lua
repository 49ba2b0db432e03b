--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- What every transition of a message shares: its record, its census, its events (contract section 4).
--- A message of a WORK mailbox is its own task: taskId is stored only where it differs (a member task's id, or ''
--- for a message that carries no task). What members of a task group do beside, group/_member adds to this table:
--- whoever may meet one includes it.
local message = { maxAttempts = 5 }

--- The fields that transitions need, numbers as numbers; nil when there is no such message.
function message.read(messageId)
  local values = redis.call('HMGET', keys.message(messageId), 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts',
    'deadline', 'token', 'leaseExpiresAt', 'sequence', 'resultMessageId', 'groupState')
  if not values[1] then return nil end
  return { id = messageId, mailboxId = values[1], scopeId = values[2], taskId = message.taskIdOf(messageId, values[3]),
    groupId = values[4], state = values[5], attempts = tonumber(values[6]) or 0, deadline = tonumber(values[7]),
    token = values[8], leaseExpiresAt = tonumber(values[9]), sequence = values[10], resultMessageId = values[11],
    groupState = values[12] }
end

--- The id of the task a message carries, false for none, from what is stored.
function message.taskIdOf(messageId, stored)
  if stored == '' then return false end
  return stored or messageId
end

--- Counts the step from record.state (none: it is new) to `state`, and puts the record there. Tasks are counted as
--- messages; the few messages without a task are counted beside (`inbox:STATE`).
function message.enter(record, state)
  local from = record.state
  if from then
    count.add(count.space, 'messages:' .. from, -1)
    if not record.taskId then count.add(count.space, 'inbox:' .. from, -1) end
  end
  count.add(count.space, 'messages:' .. state, 1)
  if not record.taskId then count.add(count.space, 'inbox:' .. state, 1) end
  if state == 'CLAIMED' then count.add(count.org, 'usedAgents', 1) end
  if from == 'CLAIMED' then count.add(count.org, 'usedAgents', -1) end
  record.state = state
end

--- As text: Lua makes text of a number digit by digit, and slowly.
local attemptsText = { [0] = '0', '1', '2', '3', '4', '5' }

--- Appends `message.<what>` for the state the record has now.
function message.tell(record, what)
  journal.append('message.' .. what, record.id, record.scopeId, '"mailboxId":"' .. record.mailboxId
    .. (record.taskId and '","taskId":"' or '') .. (record.taskId or '')
    .. (record.groupId and '","groupId":"' or '') .. (record.groupId or '')
    .. '","state":"' .. record.state .. '","attempts":' .. attemptsText[record.attempts or 0])
end
