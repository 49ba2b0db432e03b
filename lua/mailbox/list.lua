--- Mailboxes, newest first, those of a name alone where there is one; the next cursor is the last id of the page.
--- @request read
--- @args limit cursor name
--- @reply nextCursor mailboxes:mailbox[]
--- @include lib/call lib/page mailbox/_mailbox mailbox/_names mailbox/_view
local ids, nextCursor
if name == '' then ids, nextCursor = page(keys.mailboxes(), limit, cursor) else ids, nextCursor = names.page(name, limit, cursor) end
for i, mailboxId in ipairs(ids) do ids[i] = mailbox.view(mailboxId) end
return call.answer({ nextCursor = nextCursor, mailboxes = ids })
