--- @export blocked
--- @include lib/clock lib/count lib/invocation lib/records lib/sorted mailbox/_mailbox mailbox/_message
--- BLOCKED messages, which cannot be received until their reason is gone. Only this file blocks and unblocks messages;
--- the modules with reasons, such as prerequisites (mailbox/_prerequisite) and keys (mailbox/_keyed), call it. Each
--- mailbox has a sorted set of its BLOCKED messages, scored by when they were blocked.
local blocked = {}

--- Blocks a message. readyAt: the end of the sender's delay, which runs meanwhile; nil for none.
function blocked.hold(record, box, readyAt)
  message.become(record, 'BLOCKED')
  invocation.hasWithheld = true
  count.space('withheld', 1)
  records.set(box, 'blocked', mailbox.load(box.id, 'blocked').blocked + 1)
  sorted.add(keys.blocked(box.id), nowText, record.id)
  if readyAt then records.set(record, 'readyAt', readyAt) end
end

--- Unblocks a message; the caller sets its next state.
function blocked.drop(record)
  count.space('withheld', -1)
  records.add(keys.mailbox(record.mailboxId), 'blocked', -1)
  sorted.remove(keys.blocked(record.mailboxId), record.id)
  if message.load(record.id, 'readyAt').readyAt then records.set(record, 'readyAt', false) end
end
