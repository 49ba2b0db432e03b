--- @export blocked
--- @include lib/clock lib/count lib/records lib/invocation lib/sorted mailbox/_delay mailbox/_dependents mailbox/_mailbox
--- @include mailbox/_message mailbox/_ready scope/_scope
--- BLOCKED messages: nobody receives them until something else has happened. This file alone makes messages BLOCKED and
--- frees them; the reasons, such as prerequisites (mailbox/_after), call it. Each mailbox has a sorted set of them, by the
--- moment since which they wait.
local blocked = {}

--- Makes a message that is new or requeued BLOCKED. readyAt: the end of its sender's delay, which runs meanwhile; nil: none.
function blocked.hold(record, box, readyAt)
  message.become(record, 'BLOCKED')
  invocation.hasWithheld = true
  count.space('withheld', 1)
  records.set(box, 'blocked', mailbox.load(box.id, 'blocked').blocked + 1)
  sorted.add(keys.blocked(box.id), nowText, record.id)
  if readyAt then records.set(record, 'readyAt', readyAt) end
end

--- Takes a message out of the BLOCKED ones; the caller gives it its next state.
function blocked.drop(record)
  count.space('withheld', -1)
  records.add(keys.mailbox(record.mailboxId), 'blocked', -1)
  sorted.remove(keys.blocked(record.mailboxId), record.id)
  if message.load(record.id, 'readyAt').readyAt then records.set(record, 'readyAt', false) end
end

--- Frees a BLOCKED message whose last reason is gone: DELAYED for the rest of its sender's delay, or READY since now.
function blocked.free(record)
  local readyAt = message.load(record.id, 'readyAt').readyAt
  blocked.drop(record)
  local box = mailbox.read(record.mailboxId)
  if readyAt and readyAt > now then
    records.set(record, 'place', ready.placeAt(now))
    delay.hold(record, box, readyAt)
  else
    message.become(record, 'READY')
    ready.put(record, scope.path(record.scopeId), box, now)
  end
end
