--- Mailboxes, newest first: a page's next cursor (the last id, or false), then six fields each and the oldest moment.
--- @args limit cursor
--- @include "lib/call"
call.read()
local ids = redis.call('ZRANGE', keys.mailboxes(), cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
local more = #ids > tonumber(limit)
if more then ids[#ids] = nil end
local page = {}
for _, mailboxId in ipairs(ids) do
  local record = redis.call('HMGET', keys.mailbox(mailboxId), 'name', 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed',
    'failed', 'createdAt')
  record[#record + 1] = redis.call('ZSCORE', keys.oldestReady(), mailboxId)
  record[#record + 1] = mailboxId
  page[#page + 1] = record
end
return call.answer(more and ids[#ids], page)
