--- Finds messages by workKey or by key (the other is '') in all mailboxes that the caller may use: the newest mailbox
--- first, and in each its newest messages first. A page looks at no more than 200 mailboxes and takes at most 10
--- messages of each; the cursor is the last mailbox looked at. Damaged messages are left out.
--- @request read
--- @args workKey key limit cursor
--- @reply nextCursor messages:messageSummary[]
--- @include lib/call lib/caller lib/maps lib/page lib/refuse mailbox/_mailbox mailbox/_message mailbox/_packed
--- @include mailbox/_view
if (workKey == '') == (key == '') then refuse('VALIDATION_FAILED', 'query must have either workKey or key') end
limit = tonumber(limit)
local maxMailboxes, maxOfEach = 200, 10

local function idsIn(mailboxId)
  if key ~= '' then return idsBefore(keys.keyed(mailboxId, key), '', maxOfEach) end
  return { maps.get(keys.workKeys(mailboxId), workKey) or nil }
end

local found, last = {}, false
for i, mailboxId in ipairs(idsBefore(keys.mailboxes(), cursor, maxMailboxes + 1)) do
  if i > maxMailboxes or #found >= limit then
    last = cursor
    break
  end
  cursor = mailboxId
  local ids = caller.hasMailbox(mailboxId) and idsIn(mailboxId) or {}
  packed.ahead(ids, 1)
  for _, id in ipairs(ids) do
    local record = not packed.damaged(id) and message.load(id)
    if record and record.mailboxId then found[#found + 1] = message.shown(record) end
  end
end
return call.answer({ nextCursor = last, messages = found })
