--- @export capacity
--- @space maxBacklog maxPayloadBytes maxArmedTimers messages:READY messages:CLAIMED messages:DELAYED timers:ARMED
--- @space retainedBytes
--- @include lib/clock lib/count lib/day lib/maps lib/plan lib/records lib/refuse lib/sorted lib/space lib/timer
--- @include mailbox/_prerequisite mailbox/_delay mailbox/_figures mailbox/_mailbox mailbox/_message mailbox/_ready
--- @include mailbox/_requires mailbox/_return scope/_live scope/_scope
--- How a message is sent.

--- Checks whether a mailbox, its space and the plan can take one more message.
local capacity = {}

--- Checks the moments of a new message, given as text. Returns its deadline and when it becomes READY, nil where
--- absent.
function capacity.moments(deadline, delaySeconds)
  deadline, delaySeconds = tonumber(deadline), tonumber(delaySeconds) or 0
  local readyAt = delaySeconds > 0 and now + 1000 * delaySeconds or nil
  if deadline and deadline <= now then refuse('VALIDATION_FAILED', 'deadline must be in the future') end
  if deadline and readyAt and readyAt >= deadline then
    refuse('VALIDATION_FAILED', 'delaySeconds must end before the deadline')
  end
  return deadline, readyAt
end

function capacity.forPayload(field, payload)
  local limit = keyspace.record.maxPayloadBytes
  if #payload > tonumber(limit) then refuse('PAYLOAD_TOO_LARGE', field .. ' ' .. limit) end
end

function capacity.isTooLarge(payload)
  return #payload > tonumber(keyspace.record.maxPayloadBytes)
end

--- The first limit that one more message with this many timers would exceed, as error code and detail; nil if there is
--- capacity. isTask: whether it counts as an active task of the plan.
function capacity.lack(box, timers, isTask)
  local space, of = keyspace.record, count.ofSpace
  local anyBlocked = mailbox.anyBlocked()
  local unfinished = box.ready + box.delayed + box.claimed
  if anyBlocked then unfinished = mailbox.backlog(box) end
  if unfinished >= box.backlogLimit then return 'BACKLOG_FULL', 'mailbox ' .. box.backlogLimit end
  local queued = count.ofSpaceTogether(space, 'messages:READY', 'messages:CLAIMED', 'messages:DELAYED')
  if anyBlocked then queued = queued + count.read('messages:BLOCKED') end
  if queued >= tonumber(space.maxBacklog) then return 'BACKLOG_FULL', 'space ' .. space.maxBacklog end
  if timers > 0 and of(space, 'timers:ARMED') + timers > tonumber(space.maxArmedTimers) then
    return 'TIMERS_FULL', space.maxArmedTimers
  end
  local tasks = isTask and plan.tasksInUse()
  if tasks then return 'ACTIVE_TASKS_LIMITED', tasks end
end

--- Refuses a message that exceeds a limit.
function capacity.forMessage(box, timers, isTask)
  local code, detail = capacity.lack(box, timers, isTask)
  if code == 'BACKLOG_FULL' then refuse('BACKLOG_FULL', detail) end
  if code == 'TIMERS_FULL' then refuse('TIMERS_FULL', detail) end
  if code then refuse('ACTIVE_TASKS_LIMITED', detail) end
end

--- The rare properties of new messages: the `options` of message.create.

--- The `options` of a message that has only a trace.
function message.traced(traceparent, tracestate)
  return traceparent ~= '' and { traceparent = traceparent, tracestate = tracestate ~= '' and tracestate or nil } or nil
end

--- The pauses of its own that a new message has: the first and the longest, nil where the mailbox's hold. text:
--- both, separated by a space, each `-` if left out; '' without either.
function message.pauses(text)
  local first, longest = string.match(text, '^(%S+) (%S+)$')
  return tonumber(first), tonumber(longest)
end

--- Whether a message has open prerequisites. options: from mailbox/_options, or a record after message.obstacle.
function message.willWait(options)
  return options and options.places and options.places[1] ~= nil
end

--- Starts a message with `options` (see message.create).
local function begin(record, path, box, options)
  for field, value in pairs(options) do
    if field ~= 'places' then records.set(record, field, value) end
  end
  -- Code that moves a message reads its options only if it has a place (mailbox/_ready).
  records.set(record, 'place', ready.placeAt(now))
  if options.key then sorted.add(keys.keyed(box.id, options.key), '0', record.id) end
  if options.required then requires.count(options.required, 1) end
  if options.places and options.places[1] then
    prerequisite.hold(record, options.places, box, record.readyAt)
  else
    message.enqueue(record, path, box, record.readyAt, now)
  end
end

--- Puts a new message into a mailbox: READY, DELAYED if it has a `readyAt`, or BLOCKED.
--- record: id, mailboxId, scopeId, taskId (false for none), payload, state = false (so that the table need not grow for
--- it), and groupId, taskKey, workKey, deadline, maxAttempts, readyAt or nil.
--- box: the mailbox's record.
--- options: nil for most messages, else `priority` (1 to 9), `key`, `required`, `prerequisites` and `places` from
--- `prerequisite.judge`, `traceparent` and `tracestate`, each nil if absent.
function message.create(record, path, box, options)
  if box.figuresMinute ~= minute then figures.turn(box.id) end
  path = path or scope.create(record.scopeId)
  message.insert(record)
  record.maxAttempts = record.maxAttempts or box.maxAttempts
  if options then
    begin(record, path, box, options)
  elseif record.readyAt then
    delay.hold(record, box, record.readyAt)
  else
    message.become(record, 'READY')
    records.set(box, 'ready', box.ready + 1)
    ready.add(record.mailboxId, path, record.id, now, nowText)
  end
  if record.workKey then maps.put(keys.workKeys(record.mailboxId), record.workKey, record.id) end
  if record.deadline then
    count.space('timers:ARMED', 1)
    timer.arm('mailbox:message', record.id, record.deadline)
  end
  sorted.add(keys.messages(record.mailboxId), '0', record.id)
  sorted.add(keys.scopeMessages(record.scopeId), '0', record.id)
  if record.taskId then count.org('usedTasks', 1) end
  count.space('retainedBytes', #record.payload)
  scope.addLive(path, 1)
  emit.message.sent(record.id, record)
end
