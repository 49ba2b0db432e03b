--- @include lib/clock lib/count lib/day lib/maps lib/records lib/sorted lib/timer mailbox/_after mailbox/_delay
--- @include mailbox/_figures mailbox/_message mailbox/_proceed mailbox/_ready mailbox/_requires scope/_scope
local rareFields = { 'priority', 'key', 'prerequisites', 'required', 'traceparent', 'tracestate' }

--- Starts a message with an `order` (see message.create).
local function begin(record, path, box, order)
  for _, field in ipairs(rareFields) do
    if order[field] then records.set(record, field, order[field]) end
  end
  -- Code that moves a message reads its order only if it has a place (mailbox/_ready).
  records.set(record, 'place', ready.placeAt(now))
  if order.key then sorted.add(keys.keyed(box.id, order.key), '0', record.id) end
  if order.required then requires.count(order.required, 1) end
  if order.places and order.places[1] then
    after.hold(record, order.places, box, record.readyAt)
  else
    message.proceed(record, path, box, record.readyAt, now)
  end
end

--- Puts a new message into a mailbox: READY, DELAYED if it has a `readyAt`, or BLOCKED.
--- record: id, mailboxId, scopeId, taskId (false for none), payload, state = false (so that the table need not grow for it),
--- and groupId, taskKey, workKey, deadline, maxAttempts, readyAt or nil.
--- box: the mailbox's record.
--- order: nil for most messages, else `priority` (1 to 9), `key`, `required`, `prerequisites` and `places` from
--- `after.judge`, `traceparent` and `tracestate`, each nil if absent.
function message.create(record, path, box, order)
  if box.figuresMinute ~= minute then figures.turn(box.id) end
  path = path or scope.create(record.scopeId)
  message.insert(record)
  record.maxAttempts = record.maxAttempts or box.maxAttempts
  if order then
    begin(record, path, box, order)
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
