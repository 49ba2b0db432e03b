--- @include lib/count lib/day lib/journal lib/records lib/sorted lib/timer mailbox/_blocked mailbox/_delay mailbox/_dependents mailbox/_figures
--- @include mailbox/_keyed mailbox/_mailbox mailbox/_members mailbox/_message mailbox/_passOn mailbox/_ready scope/_scope
--- The number of messages finished so far; finishing one may finish others.
message.finishes = 0
--- A mailbox's counters of messages by final state. ACKED needs none (mailbox/_figures).
local totals = { REJECTED = 'rejectedTotal', FAILED = 'failedTotal', EXPIRED = 'expiredTotal',
  CANCELLED = 'cancelledTotal' }

--- Moves a live message to a final state at the time `at`. emitter: emits its event; reason may be nil; cause: the id of the
--- causing request, nil for the current one. The fields of the last claim are kept.
function message.finish(record, state, at, emitter, reason, cause)
  message.finishes = message.finishes + 1
  if record.place then
    -- One read for everything that message.passOn and the event need.
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
  if record.place then message.passOn(record, from, at, cause) end
  scope.addLive(path, -1)
  emitter(record.id, record, cause)
  journal.wake(record.id)
  if mailbox.isEmpty(box) then journal.wake(record.mailboxId) end
  if record.groupId then members.finished(record, from == 'CLAIMED', at, reason, cause) end
  if mailbox.anyBlocked() then dependents.ended(record.id, state, at, cause, record) end
end
