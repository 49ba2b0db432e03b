--- @export turns
--- @include lib/records lib/sorted mailbox/_mailbox
--- Whose turn it is when a receive asks for messages of all runs: one sorted set per mailbox, of the root scopes that have
--- READY messages. One that was served, or has become ready, joins the back. It is kept from the first such receive on (mailbox/_expire makes it);
--- `turn` of the mailbox is the score that was given last.
local turns = {}

--- A root scope that has READY messages goes to the back.
function turns.join(mailboxId, rootId)
  local box = mailbox.load(mailboxId, 'turn')
  if not box.turn then return end
  records.set(box, 'turn', box.turn + 1)
  sorted.add(keys.turns(mailboxId), string.format('%d', box.turn), rootId)
end

--- A root scope has no READY messages left.
function turns.leave(mailboxId, rootId)
  if mailbox.load(mailboxId, 'turn').turn then sorted.remove(keys.turns(mailboxId), rootId) end
end
