--- @export skip
--- @include lib/clock lib/count lib/day lib/hooks lib/invocation lib/journal lib/page lib/records lib/sorted
--- @include lib/timer mailbox/_blocked mailbox/_delay mailbox/_figures mailbox/_keyed mailbox/_mailbox
--- @include mailbox/_message mailbox/_others mailbox/_parked mailbox/_ready mailbox/_requires mailbox/_return
--- @include scope/_ending scope/_live scope/_scope
--- How a message ends.

--- A message with a place has ended at `at`. Passes on its key's turn and the units it held or would have taken, and
--- withdraws its question. from: its previous state; cause: of the question's event.
function message.releaseForOthers(record, from, at, cause)
  local options = message.load(record.id, 'key', 'required', 'blockedOn')
  local questionId, isSuspended = aside.of(options.blockedOn), options.blockedOn == 'SUSPENSION'
  if options.required then
    requires.count(options.required, -1)
    if options.blockedOn and not questionId and not isSuspended then parked.forget(record, options.blockedOn) end
    if from == 'CLAIMED' then
      requires.give(record, at)
    elseif from == 'READY' then
      parked.passOn(options.required)
    end
  end
  if options.key then keyed.leave(record, from, at) end
  if questionId then
    records.set(record, 'blockedOn', false)
    asked.withdraw(questionId, at, cause)
  elseif isSuspended then
    records.set(record, 'blockedOn', false)
  end
end

--- The number of messages finished so far; finishing one may finish others.
message.finishes = 0
--- A mailbox's counters of messages by final state. ACKED needs none (mailbox/_figures).
local totals = { REJECTED = 'rejectedTotal', FAILED = 'failedTotal', EXPIRED = 'expiredTotal',
  CANCELLED = 'cancelledTotal' }

--- Moves a live message to a final state at the time `at`. emitter: emits its event; reason may be nil; cause: the id
--- of the causing request, nil for the current one. The fields of the last claim are kept.
function message.finish(record, state, at, emitter, reason, cause)
  message.finishes = message.finishes + 1
  if record.place then
    -- One read for everything that message.releaseForOthers and the event need.
    message.load(record.id, 'key', 'required', 'blockedOn', 'traceparent')
    keyed.needOrder(record, at)
  end
  local path = scope.path(record.scopeId)
  local from, box = record.state, mailbox.load(record.mailboxId, 'ready', 'delayed', 'claimed',
    'figuresMinute')
  if box.figuresMinute ~= minute then figures.turn(box.id) end
  if from == 'CLAIMED' then
    sorted.remove(keys.claims(), record.id)
    records.set(box, 'claimed', box.claimed - 1)
  elseif from == 'DELAYED' then
    delay.drop(record)
  elseif from == 'BLOCKED' then
    if record.blockedOn == 'SUSPENSION' then suspended.forget(record) end
    dependents.forget(record)
    blocked.drop(record)
  else
    local member = (record.place or '') .. record.id
    ready.remove(record.mailboxId, path, member, ready.since(record.mailboxId, path, member))
    records.set(box, 'ready', box.ready - 1)
  end
  if record.deadline then
    timer.disarm('mailbox:message', record.id)
    count.space('timers:ARMED', -1)
  end
  if totals[state] then records.add(box.hashKey, totals[state], 1) end
  if state == 'FAILED' then records.add(keys.mailbox(record.mailboxId), 'failed', 1) end
  if message.requeueable[state] then sorted.add(keys.requeueable(record.mailboxId, state), '0', record.id) end
  message.become(record, state)
  if record.taskId then count.org('usedTasks', -1) end
  records.set(record, 'finishedAt', at)
  if reason then records.set(record, 'reason', reason) end
  if record.place then message.releaseForOthers(record, from, at, cause) end
  scope.addLive(path, -1)
  scope.addAlong(path, message.endedIn[state], 1)
  emitter(record.id, record, cause)
  journal.wake(record.id)
  if mailbox.isEmpty(box) then journal.wake(record.mailboxId) end
  if record.groupId then members.finished(record, from == 'CLAIMED', at, reason, cause) end
  if mailbox.anyBlocked() then dependents.ended(record.id, state, at, cause, record) end
end

--- Ends an attempt that failed at `at`: the message returns for another one after a pause (nil: the mailbox's setting),
--- or is FAILED once its attempts are used up. record: from message.readForRetry.
function message.retry(record, at, pauseSeconds)
  if record.attempts >= record.maxAttempts then
    message.finish(record, 'FAILED', at, emit.message.failed, 'ATTEMPTS_EXHAUSTED')
  else
    message.release(record, at, pauseSeconds)
  end
end

--- Ends a live message of a cancelled run. If its deadline came before the cancel, it is EXPIRED, with `cause` (nil:
--- the current request).
function message.stop(record, cancel, cause)
  local deadline = record.deadline
  if deadline and deadline <= cancel.cancelledAt then
    message.finish(record, 'EXPIRED', deadline, emit.message.expired, 'DEADLINE_EXCEEDED', cause)
  else
    message.finish(record, 'CANCELLED', now, emit.message.cancelled, 'RUN_CANCELLED',
      ending.count(cancel, 'cancelledMessages'))
  end
end

cancels.messages = { total = 'cancelledMessages', isLive = true }

function cancels.messages.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeMessages(scopeId), last, maxRecords)
end

--- Returns the number of messages finished: stopping one may decide a group elsewhere, which cancels that group's
--- waiting members.
function cancels.messages.stop(id, cancel)
  -- Packed messages are never live.
  local found = message.stored(id, 'state')
  if not found or not message.isLive(found) then return 0 end
  local before = message.finishes
  message.stop(message.read(id), cancel)
  return message.finishes - before
end

--- Ends messages of a cancelled run that a receive meets at the head of its queue.
local skip = {}
--- For all receives of an invocation together. Ten take Redis about a millisecond.
local maxSkips = 100

--- Ends this message and the messages of cancelled runs that follow it, as many as this invocation still may.
function skip.cancelled(mailboxId, scopeId, messageId)
  local met = message.read(messageId)
  message.stop(met, scope.cancelFor(met))
  while (invocation.skipped or 0) < maxSkips do
    local member = ready.first(mailboxId, scopeId)
    local record = member and message.read(string.sub(member, -36))
    local cancel = record and scope.cancelFor(record)
    if not cancel then return end
    local before = message.finishes
    message.stop(record, cancel)
    invocation.skipped = (invocation.skipped or 0) + message.finishes - before
  end
end
