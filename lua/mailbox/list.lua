--- Mailboxes, newest first: a page's next cursor (the last id, or false), then six fields each and the oldest moment.
--- @args limit cursor
--- @include "lib/call"
--- @include "lib/page"
--- @include "mailbox/_oldest"
call.read()
local ids, nextCursor = page(keys.mailboxes(), limit, cursor)
local records = {}
for _, mailboxId in ipairs(ids) do
  local record = redis.call('HMGET', keys.mailbox(mailboxId), 'name', 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed',
    'failed', 'createdAt')
  record[9], record[10] = oldest.readyOf(mailboxId, 16), mailboxId
  records[#records + 1] = record
end
return call.answer(nextCursor, records)
