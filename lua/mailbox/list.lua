--- Mailboxes, newest first: a page's next cursor (the last id, or false), then six fields each and the oldest moment.
--- @args limit cursor
--- @include "lib/call"
--- @include "lib/page"
call.read()
local ids, nextCursor = page(keys.mailboxes(), limit, cursor)
local records = {}
for _, mailboxId in ipairs(ids) do
  local record = redis.call('HMGET', keys.mailbox(mailboxId), 'name', 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed',
    'failed', 'createdAt')
  -- The heads are kept to the second; the head of the oldest root's own queue is exact.
  local head = redis.call('ZRANGE', keys.heads(mailboxId), 0, 0)[1]
  record[9] = head and redis.call('ZRANGE', keys.ready(mailboxId, head), 0, 0, 'WITHSCORES')[2] or false
  record[10] = mailboxId
  records[#records + 1] = record
end
return call.answer(nextCursor, records)
