--- @export blocked
--- @include lib/clock lib/count lib/records lib/invocation lib/sorted mailbox/_mailbox mailbox/_message
--- BLOCKED messages: nobody receives them until something else has happened. This file alone makes messages BLOCKED and
--- takes them out again; the reasons, such as prerequisites (mailbox/_after) and keys (mailbox/_keyed), call it. Each mailbox
--- has a sorted set of them, by the moment since which they wait.
local blocked = {}

--- Makes a message BLOCKED. readyAt: the end of its sender's delay, which runs meanwhile; nil: none.
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
