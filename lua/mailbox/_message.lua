--- @record message
--- @include lib/clock lib/count lib/records lib/refuse lib/sorted mailbox/_mailbox scope/_scope
--- The record of a message and its counts, for all its transitions. A message of a WORK mailbox is its own task. For
--- members of task groups see mailbox/_others.

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
    'leaseExpiresAt', 'place', 'prerequisites', 'key', 'required', 'finishedAt')
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
function message.remove(mailboxId, state)
  message.leave(state)
  if state ~= 'ACKED' then return end
  count.space('ackedRemoved', 1)
  local box = mailbox.load(mailboxId, 'ackedRemoved')
  if box and box.ackedRemoved then records.addTo(box, 'ackedRemoved', 1) end
end

--- Moves the record from record.state (nil for a new one) to `state`, and counts both. Tasks are counted as messages;
--- the few messages without a task are counted in addition as `inbox:STATE`.
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

--- When a live message next changes by itself: its deadline or the end of its lease.
function message.changesAt(record)
  local at = record.deadline or math.huge
  return record.state == 'CLAIMED' and math.min(at, record.leaseExpiresAt) or at
end

--- Whether a message belongs to a scope or to one below it; scopeId '': any.
function message.isBelow(messageId, scopeId)
  return scopeId == '' or scope.isWithin(message.load(messageId, 'scopeId').scopeId, scopeId)
end

--- The whole message. Refuses if there is none; the tombstone of a task is not a message.
function message.whole(messageId)
  local record = message.load(messageId)
  if not record or not record.mailboxId then refuse('MESSAGE_NOT_FOUND') end
  return record
end

--- Puts the payload into the last value of a reply. The idempotent answer was stored before without it, because the
--- payload never changes.
function message.withPayload(reply, record)
  reply[#reply] = record.payload
  return reply
end

--- Gives a packed message a record again, so that it can change. record: as loaded; the record of a message that is not
--- packed stays as it is.
function message.unpack(record)
  if not record.isPacked then return end
  message.load(record.id)
  record.isPacked, record.changed = nil, nil
  message.insert(record)
  record.isSet = true
  sorted.add(keys.messages(record.mailboxId), '0', record.id)
  mailbox.letGo(record.mailboxId, -1)
  sorted.add(keys.unpackedMessages(), '0', record.id)
end
