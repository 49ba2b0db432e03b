--- @export turns
--- @include lib/records lib/sorted mailbox/_mailbox
--- The order in which runs take turns when a receive asks for messages of all runs: one sorted set per mailbox of the
--- root scopes with READY messages. A root scope joins the back when it was served, or when it gets its first READY
--- message. The set is kept from the first such receive on (mailbox/_expire creates it); the mailbox's `turn` is the
--- last score given.
local turns = {}

--- Moves a root scope with READY messages to the back.
function turns.join(mailboxId, rootId)
  local box = mailbox.load(mailboxId, 'turn')
  if not box.turn then return end
  records.set(box, 'turn', box.turn + 1)
  sorted.add(keys.turns(mailboxId), string.format('%d', box.turn), rootId)
end

--- Removes a root scope without READY messages.
function turns.leave(mailboxId, rootId)
  if mailbox.load(mailboxId, 'turn').turn then sorted.remove(keys.turns(mailboxId), rootId) end
end
