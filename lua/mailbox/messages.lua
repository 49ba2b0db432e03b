--- Lists messages of a mailbox, oldest first, by states (`,A,B,`), scope subtree and workKey. A page scans at most 1,000
--- records and 4 MiB, so it may be short though there are more; the next cursor is the last id scanned. Those of one state
--- that can be requeued have an index of their own: a failed message is found behind any number of others.
--- @args mailboxId states scopeId workKey limit cursor
--- @reply nextCursor messages:message[]
--- @include "lib/call"
--- @include "mailbox/_message"
call.read()
if redis.call('EXISTS', keys.mailbox(mailboxId)) == 0 then refuse('MAILBOX_NOT_FOUND') end
limit = tonumber(limit)
local scanLimit, bytesLimit = 1000, 4194304
local found, bytes, last, more, inSubtree = {}, 0, false, false, {}
local indexed = { REJECTED = true, FAILED = true, EXPIRED = true, CANCELLED = true }

local ids
if workKey ~= '' then
  local id = redis.call('HGET', keys.workKeys(mailboxId), workKey)
  ids = id and { id } or {}
else
  local state = string.match(states, '^,(%u+),$')
  local key = indexed[state] and keys.requeueable(mailboxId, state) or keys.messages(mailboxId)
  ids = redis.call('ZRANGE', key, cursor == '' and '-' or '(' .. cursor, '+', 'BYLEX',
    'LIMIT', 0, scanLimit + 1)
end

for i, id in ipairs(ids) do
  if #found == limit or i > scanLimit or bytes > bytesLimit then
    more = true
    break
  end
  last = id
  local looked = message.load(id, 'state', 'scopeId')
  local state, messageScope = looked.state, looked.scopeId
  if scopeId ~= '' and inSubtree[messageScope] == nil then
    local path = redis.call('HGET', keys.scope(messageScope), 'path')
    inSubtree[messageScope] = path and string.find(path, scopeId, 1, true) ~= nil
  end
  if (states == '' or string.find(states, ',' .. state .. ',', 1, true)) and (scopeId == '' or inSubtree[messageScope]) then
    local record = message.shown(message.load(id))
    bytes = bytes + #record.payload + #(record.result or '')
    found[#found + 1] = record
  end
end
return call.answer({ nextCursor = more and last, messages = found })
