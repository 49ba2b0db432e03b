--- @record message
--- @include lib/clock lib/count lib/records
--- What all transitions of a message share: its record and its census. A message of a WORK mailbox is its own task.
--- What members of a task group do in addition is in mailbox/_members.

--- The fields that transitions need; taskId is false if the message carries no task. nil if there is no such message.
function message.read(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place')
end

--- The same, with the number of attempts after which it fails.
function message.readForRetry(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place', 'maxAttempts')
end

--- The same, with what a requeue looks at.
function message.readForRequeue(messageId)
  return message.load(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline', 'token',
    'leaseExpiresAt', 'place', 'prerequisites', 'key', 'required')
end

--- The states of messages that are not over, and those of which a requeue brings them back. ACKED is neither.
message.live = { READY = true, DELAYED = true, BLOCKED = true, CLAIMED = true }
message.requeueable = { REJECTED = true, FAILED = true, EXPIRED = true, CANCELLED = true }

--- The counters of a scope and those above it that say how many messages have ended so.
message.endedIn = { ACKED = 'endedAcked', REJECTED = 'endedRejected', FAILED = 'endedFailed', EXPIRED = 'endedExpired',
  CANCELLED = 'endedCancelled' }

function message.isLive(record)
  return message.live[record.state] == true
end

--- The state that a caller is to see: a DELAYED message is READY from its moment on, swept or not.
function message.stateNow(record)
  return record.state == 'DELAYED' and record.readyAt <= now and 'READY' or record.state
end

--- Before an event of the message, which has its trace. Few have one; those have a place.
function message.needTrace(record)
  if record.place then message.load(record.id, 'traceparent') end
end

--- Sets a text of the record that counts among the retained bytes.
function message.keep(record, field, text)
  local known = message.load(record.id, 'lastError', 'progress')
  count.space('retainedBytes', #text - #(known[field] or ''))
  records.set(record, field, text)
end

--- Takes a message that retention removes out of the census.
function message.remove(state)
  message.leave(state)
  if state == 'ACKED' then count.space('ackedRemoved', 1) end
end

--- Moves the record from record.state (nil for a new one) to `state`, and counts that. Tasks are counted as messages; the
--- few messages without a task are counted again as `inbox:STATE`.
function message.become(record, state)
  local from = record.state
  if not record.taskId then
    if from then count.space('inbox:' .. from, -1) end
    count.space('inbox:' .. state, 1)
  end
  if state == 'CLAIMED' then count.org('usedAgents', 1) end
  if from == 'CLAIMED' then
    count.org('usedAgents', -1)
    -- Whether claims ended in an ACKED message is not counted: that is what most do (mailbox/_figures).
    if state ~= 'ACKED' then
      count.space('unackedTotal', 1)
      records.add(keys.mailbox(record.mailboxId), 'unackedTotal', 1)
    end
  end
  message.enter(record, state)
end
