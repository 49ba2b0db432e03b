--- Lists messages of a mailbox, oldest first, by states (`,A,B,`), scope subtree and workKey. A page scans at most 1,000
--- records and 4 MiB, so it may be short though there are more; the next cursor is the last id scanned. Those of one state
--- that can be requeued have an index of their own: a failed message is found behind any number of others.
--- @args mailboxId states scopeId workKey limit cursor
--- @reply nextCursor messages:message[]
--- @include "lib/call"
--- @include "mailbox/_message"
--- @include "mailbox/_ids"
call.read()
if redis.call('EXISTS', keys.mailbox(mailboxId)) == 0 then refuse('MAILBOX_NOT_FOUND') end
limit = tonumber(limit)
local scanLimit, bytesLimit = 1000, 4194304
local indexed = { REJECTED = true, FAILED = true, EXPIRED = true, CANCELLED = true }
local isFiltered = states ~= '' or scopeId ~= ''
local chosen, found, bytes, last, more, inSubtree = {}, {}, 0, false, false, {}

local ids
local state = string.match(states, '^,(%u+),$')
if workKey ~= '' then
  local id = redis.call('HGET', keys.workKeys(mailboxId), workKey)
  ids = id and { id } or {}
elseif indexed[state] then
  ids = redis.call('ZRANGE', keys.requeueable(mailboxId, state), cursor == '' and '-' or '(' .. cursor, '+', 'BYLEX',
    'LIMIT', 0, scanLimit + 1)
else
  ids = packed.idsOf(mailboxId, cursor, (isFiltered and scanLimit or limit) + 1)
end

local function isWanted(id)
  if not isFiltered then return true end
  local looked = message.load(id, 'state', 'scopeId')
  -- What was unpacked and has gone since is still named by its segment.
  if not looked then return false end
  local messageScope = looked.scopeId
  if scopeId ~= '' and inSubtree[messageScope] == nil then
    local path = redis.call('HGET', keys.scope(messageScope), 'path')
    inSubtree[messageScope] = path and string.find(path, scopeId, 1, true) ~= nil
  end
  return (states == '' or string.find(states, ',' .. looked.state .. ',', 1, true)) and (scopeId == '' or inSubtree[messageScope])
end

packed.ahead(ids, 1)
for i, id in ipairs(ids) do
  if #chosen == limit or i > scanLimit then
    more = true
    break
  end
  last = id
  if isWanted(id) then chosen[#chosen + 1] = id end
end
packed.ahead(chosen, 1)
for _, id in ipairs(chosen) do
  local record = message.load(id)
  if record then
    found[#found + 1] = message.shown(record)
    bytes = bytes + #record.payload + #(record.result or '')
    if bytes > bytesLimit and id ~= ids[#ids] then
      last, more = id, true
      break
    end
  end
end
return call.answer({ nextCursor = more and last, messages = found })
