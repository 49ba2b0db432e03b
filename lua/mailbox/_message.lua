--- @record message
--- @include "lib/refuse"
--- @include "lib/count"
--- What every transition of a message shares: its record and its census (contract section 4). A message of a WORK
--- mailbox is its own task. What members of a task group do beside, group/_member adds to this table: whoever may meet
--- one includes it.

--- The fields that transitions need; taskId false where it carries no task. nil when there is no such message.
function message.read(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place', 'maxAttempts', 'resultMessageId', 'groupState')
end

function message.isLive(state)
  return state == 'READY' or state == 'CLAIMED' or state == 'DELAYED'
end

--- The state that a caller is to see: a DELAYED message is READY from its moment on, swept or not.
function message.stateNow(record)
  return record.state == 'DELAYED' and record.readyAt <= now and 'READY' or record.state
end

--- Sets a text of the record that counts among the retained bytes.
function message.keep(record, field, text)
  local known = message.load(record.id, 'lastError', 'progress')
  count.space('retainedBytes', #text - #(known[field] or ''))
  records.set(record, field, text)
end

local enter = message.enter

--- Counts the step from record.state (none: it is new) to `state`, and puts the record there. Tasks are counted as
--- messages; the few messages without a task are counted beside (`inbox:STATE`).
function message.enter(record, state)
  local from = record.state
  if not record.taskId then
    if from then count.space('inbox:' .. from, -1) end
    count.space('inbox:' .. state, 1)
  end
  if state == 'CLAIMED' then count.org('usedAgents', 1) end
  if from == 'CLAIMED' then count.org('usedAgents', -1) end
  enter(record, state)
end

--- The record as reads show it: a lease ends with the claim.
function message.shown(record)
  if record.state ~= 'CLAIMED' then record.leaseExpiresAt = false end
  return record
end
