--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- What every transition of a message shares: its record, its census, its events (contract section 4).
local message = { maxAttempts = 5 }
local fieldsOfMessage = { 'mailboxId', 'scopeId', 'taskId', 'groupId', 'taskKey', 'state', 'attempts', 'deadline',
  'token', 'leaseExpiresAt', 'readyAt', 'sequence' }
local taskStates = { READY = 'PENDING', CLAIMED = 'RUNNING', ACKED = 'SUCCEEDED', REJECTED = 'FAILED', FAILED = 'FAILED',
  EXPIRED = 'EXPIRED', CANCELLED = 'CANCELLED' }

--- The fields that transitions need, numbers as numbers; nil when there is no such message.
function message.read(messageId)
  local values = redis.call('HMGET', keys.message(messageId), unpack(fieldsOfMessage))
  if not values[1] then return nil end
  local record = { id = messageId }
  for i, name in ipairs(fieldsOfMessage) do record[name] = values[i] end
  record.attempts, record.deadline = tonumber(record.attempts), tonumber(record.deadline)
  record.leaseExpiresAt, record.readyAt = tonumber(record.leaseExpiresAt), tonumber(record.readyAt)
  return record
end

--- Counts the step from record.state (nil: it is new) to `state`, and puts the record there.
function message.enter(record, state)
  if record.state then
    count.add(count.space, 'messages:' .. record.state, -1)
    if record.taskId then count.add(count.space, 'tasks:' .. taskStates[record.state], -1) end
  end
  count.add(count.space, 'messages:' .. state, 1)
  if record.taskId then count.add(count.space, 'tasks:' .. taskStates[state], 1) end
  if state == 'CLAIMED' then count.add(count.org, 'usedAgents', 1) end
  if record.state == 'CLAIMED' then count.add(count.org, 'usedAgents', -1) end
  record.state = state
end

local function orNull(text)
  return text and '"' .. text .. '"' or 'null'
end

--- Appends `message.<what>` for the state the record has now.
function message.tell(record, what)
  journal.append('message.' .. what, record.id, record.scopeId, '{"messageId":"' .. record.id
    .. '","mailboxId":"' .. record.mailboxId .. '","scopeId":"' .. record.scopeId
    .. '","taskId":' .. orNull(record.taskId) .. ',"groupId":' .. orNull(record.groupId)
    .. ',"state":"' .. record.state .. '","attempts":' .. record.attempts .. '}')
end
