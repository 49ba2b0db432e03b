--- Mailboxes, newest first; the next cursor is the last id of the page.
--- @args limit cursor
--- @reply nextCursor mailboxes:mailbox[]
--- @include "lib/call"
--- @include "lib/page"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_oldest"
call.read()
local ids, nextCursor = page(keys.mailboxes(), limit, cursor)
for i, mailboxId in ipairs(ids) do
  ids[i] = mailbox.load(mailboxId)
  ids[i].oldestReadyAt = oldest.readyOf(mailboxId, 16)
end
return call.answer({ nextCursor = nextCursor, mailboxes = ids })
