--- Lists the mailboxes that the caller may use, newest first; with a name, only mailboxes of that name. The next cursor
--- is the last id looked at.
--- @request read
--- @args limit cursor name
--- @reply nextCursor mailboxes:mailbox[]
--- @include lib/call lib/caller lib/page mailbox/_mailbox mailbox/_view
local ids, nextCursor
if name == '' then
  ids, nextCursor = page(keys.mailboxes(), limit, cursor)
else
  ids, nextCursor = names.page(name, limit, cursor)
end
local found = {}
for _, mailboxId in ipairs(ids) do
  if caller.hasMailbox(mailboxId) then found[#found + 1] = mailbox.view(mailboxId) end
end
return call.answer({ nextCursor = nextCursor, mailboxes = found })
