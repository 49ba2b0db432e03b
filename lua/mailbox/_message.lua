--- @record message
--- @include lib/clock lib/count lib/records
--- The record of a message and its counts, for all its transitions. A message of a WORK mailbox is its own task. For members
--- of task groups see mailbox/_members.

--- The fields that transitions need; taskId is false if the message has no task. nil if there is no such message.
function message.read(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place')
end

--- The fields of message.read, and the number of attempts after which the message fails.
function message.readForRetry(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place', 'maxAttempts')
end

--- The fields of message.read, and the fields that a requeue needs.
function message.readForRequeue(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place', 'prerequisites', 'key', 'required')
end

--- The states of unfinished messages, and the states from which a message can be requeued. ACKED is in neither.
message.live = { READY = true, DELAYED = true, BLOCKED = true, CLAIMED = true }
message.requeueable = { REJECTED = true, FAILED = true, EXPIRED = true, CANCELLED = true }

--- By final state: the counter of messages that ended in it, in the records of a scope and of the scopes above it.
message.endedIn = { ACKED = 'endedAcked', REJECTED = 'endedRejected', FAILED = 'endedFailed', EXPIRED = 'endedExpired',
  CANCELLED = 'endedCancelled' }

function message.isLive(record)
  return message.live[record.state] == true
end

--- The state shown to callers: a DELAYED message is READY once its delay has ended, swept or not.
function message.stateNow(record)
  return record.state == 'DELAYED' and record.readyAt <= now and 'READY' or record.state
end

--- Call it before emitting an event of the message, which carries its trace. Few messages have a trace; all of those
--- have a place.
function message.needTrace(record)
  if record.place then message.load(record.id, 'traceparent') end
end

--- Sets a text that counts towards the retained bytes.
function message.keep(record, field, text)
  local known = message.load(record.id, 'lastError', 'progress')
  count.space('retainedBytes', #text - #(known[field] or ''))
  records.set(record, field, text)
end

--- Subtracts a message that retention removes from the counts.
function message.remove(state)
  message.leave(state)
  if state == 'ACKED' then count.space('ackedRemoved', 1) end
end

--- Moves the record from record.state (nil for a new one) to `state`, and counts both. Tasks are counted as messages; the few
--- messages without a task are counted in addition as `inbox:STATE`.
function message.become(record, state)
  local from = record.state
  if not record.taskId then
    if from then count.space('inbox:' .. from, -1) end
    count.space('inbox:' .. state, 1)
  end
  if state == 'CLAIMED' then count.org('usedAgents', 1) end
  if from == 'CLAIMED' then
    count.org('usedAgents', -1)
    -- A claim that ends in ACKED, as most do, is not counted (mailbox/_figures).
    if state ~= 'ACKED' then
      count.space('unackedTotal', 1)
      records.add(keys.mailbox(record.mailboxId), 'unackedTotal', 1)
    end
  end
  message.enter(record, state)
end
