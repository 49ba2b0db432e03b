--- Messages of a mailbox, oldest first, filtered by states (`,A,B,`), scope subtree and workKey. A page scans at most
--- 1,000 records and 4 MiB, so it may be short while there is more. Replies with the next cursor and the records.
--- @args mailboxId states scopeId workKey limit cursor
--- @include "lib/call"
call.read()
if redis.call('EXISTS', keys.mailbox(mailboxId)) == 0 then refuse('MAILBOX_NOT_FOUND') end
limit = tonumber(limit)
local scanLimit, bytesLimit = 1000, 4194304
local found, bytes, last, more, inSubtree = {}, 0, false, false, {}

local ids
if workKey ~= '' then
  local id = redis.call('HGET', keys.workKeys(mailboxId), workKey)
  ids = id and { id, '0' } or {}
else
  ids = redis.call('ZRANGE', keys.messages(mailboxId), cursor == '' and '-inf' or '(' .. cursor, '+inf', 'BYSCORE',
    'LIMIT', 0, scanLimit + 1, 'WITHSCORES')
end

for i = 1, #ids, 2 do
  if #found == limit or i > scanLimit * 2 or bytes > bytesLimit then
    more = true
    break
  end
  last = ids[i + 1]
  local state, messageScope = unpack(redis.call('HMGET', keys.message(ids[i]), 'state', 'scopeId'))
  if scopeId ~= '' and inSubtree[messageScope] == nil then
    local path = redis.call('HGET', keys.scope(messageScope), 'path')
    inSubtree[messageScope] = path and string.find(path, scopeId, 1, true) ~= nil
  end
  if (states == '' or string.find(states, ',' .. state .. ',', 1, true)) and (scopeId == '' or inSubtree[messageScope]) then
    local record = redis.call('HMGET', keys.message(ids[i]), 'scopeId', 'taskId', 'groupId', 'taskKey', 'state', 'reason',
      'attempts', 'workKey', 'payload', 'deadline', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt', 'result',
      'finishedAt')
    bytes = bytes + #record[9] + (record[15] and #record[15] or 0)
    record[#record + 1] = ids[i]
    if record[2] == '' then record[2] = false else record[2] = record[2] or ids[i] end
    if record[5] ~= 'CLAIMED' then record[14] = false end
    found[#found + 1] = record
  end
end
return call.answer(more and last, found)
