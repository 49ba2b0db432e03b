--- @export blocked
--- @space messages:BLOCKED
--- @include lib/clock lib/count lib/records lib/sorted mailbox/_delay mailbox/_dependents mailbox/_mailbox
--- @include mailbox/_message mailbox/_ready scope/_scope
--- BLOCKED messages: nobody receives them until something else has happened. This file alone makes messages BLOCKED and
--- frees them; the reasons, such as prerequisites (mailbox/_after), call it. Each mailbox has a sorted set of them, by the
--- moment since which they wait.
local blocked = {}

--- Whether the space has any BLOCKED message. If it has none, an end has nobody to free.
function blocked.any()
  return count.read('messages:BLOCKED') > 0
end

--- Makes a message that is new or requeued BLOCKED. delayedUntil: its sender's delay, which runs meanwhile; nil: none.
function blocked.hold(record, box, delayedUntil)
  message.become(record, 'BLOCKED')
  records.set(box, 'blocked', box.blocked + 1)
  sorted.add(keys.blocked(box.id), nowText, record.id)
  if delayedUntil then records.set(record, 'delayedUntil', delayedUntil) end
end

--- Takes a message out of the BLOCKED ones; the caller gives it its next state.
function blocked.drop(record)
  records.add(keys.mailbox(record.mailboxId), 'blocked', -1)
  sorted.remove(keys.blocked(record.mailboxId), record.id)
  if message.load(record.id, 'delayedUntil').delayedUntil then records.set(record, 'delayedUntil', false) end
end

--- Frees a BLOCKED message whose last reason is gone: DELAYED for the rest of its sender's delay, or READY since now.
function blocked.free(record)
  local delayedUntil = message.load(record.id, 'delayedUntil').delayedUntil
  blocked.drop(record)
  local box = mailbox.read(record.mailboxId)
  if delayedUntil and delayedUntil > now then
    records.set(record, 'place', ready.placeAt(now))
    delay.hold(record, box, delayedUntil)
  else
    message.become(record, 'READY')
    ready.put(record, scope.path(record.scopeId), box, now)
  end
end
