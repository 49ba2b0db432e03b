--- @include lib/clock lib/count lib/maps lib/records lib/sorted lib/timer mailbox/_after mailbox/_delay mailbox/_message
--- @include mailbox/_ready scope/_scope
--- Puts a new message into a mailbox: READY, DELAYED where it has a `readyAt`, or BLOCKED where it has open prerequisites.
--- record: id, mailboxId, scopeId, taskId (false for none), payload, and groupId, taskKey, workKey, deadline, maxAttempts, readyAt, prerequisites or nil;
--- with state = false the table need not grow for the state. box: the mailbox's record; places: as `after.judge` returns them,
--- or nil.
function message.create(record, path, box, places)
  path = path or scope.create(record.scopeId)
  message.insert(record)
  record.maxAttempts = record.maxAttempts or box.maxAttempts
  if places and places[1] then
    after.hold(record, places, box, record.readyAt)
  elseif record.readyAt then
    delay.hold(record, box, record.readyAt)
  else
    message.become(record, 'READY')
    if places then
      -- What it is after has come out well. Its place tells a receive that there is something to hand out.
      ready.put(record, path, box, now)
    else
      records.set(box, 'ready', box.ready + 1)
      ready.add(record.mailboxId, path, record.id, now, nowText)
    end
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
