--- Lists messages of a mailbox, oldest first, by states (`,A,B,`), scope subtree, workKey and key. It scans the
--- smallest index that has all messages that may be wanted, so it finds a few messages among any number of others. A
--- page scans at most 1,000 records and 4 MiB, so it may be short although more follow; the next cursor is the last id
--- scanned. A page ends before damaged messages. A page that would start with them is refused, with the id to continue
--- after.
--- @request read
--- @args mailboxId states scopeId workKey key limit cursor
--- @reply nextCursor messages:message[]
--- @include lib/call lib/page lib/refuse mailbox/_indexes mailbox/_message mailbox/_others mailbox/_packed
--- @include mailbox/_view scope/_scope
if redis.call('EXISTS', keys.mailbox(mailboxId)) == 0 then refuse('MAILBOX_NOT_FOUND') end
limit = tonumber(limit)
local scanLimit, bytesLimit = 1000, 4194304
local isFiltered = states ~= '' or scopeId ~= '' or workKey ~= '' and key ~= ''
local chosen, found, bytes, last, more = {}, {}, 0, false, false

--- At most `maxIds` candidate ids after `after` ('': from the start). few: enough ids if all of them are wanted.
local function idsBehind(after, maxIds, few)
  if workKey ~= '' then
    local id = redis.call('HGET', keys.workKeys(mailboxId), workKey)
    return id and { id } or {}
  end
  if key ~= '' then return idsAfter(keys.keyed(mailboxId, key), after, maxIds) end
  return indexes.ids(mailboxId, states, scopeId, after, maxIds, few)
end

local ids = idsBehind(cursor, (isFiltered and scanLimit or limit) + 1, limit + 1)

--- Whether the page ends here, before a damaged message. before: the last id looked at.
local function endsBefore(id, before)
  local damaged = packed.damaged(id)
  if not damaged then return false end
  if not chosen[1] then
    local behind = workKey == '' and packed.lastDamaged(damaged,
      idsBehind(before or cursor, damaged.count, damaged.count))
    packed.refuseDamaged(damaged, behind)
  end
  more = true
  return true
end

local function isWanted(id)
  if not isFiltered then return true end
  local looked = message.load(id, 'mailboxId', 'state', 'scopeId')
  -- A segment still lists a message that was unpacked and has since been removed, even if its tombstone is left. A
  -- scope's index has messages of other mailboxes, too.
  if not looked or looked.mailboxId ~= mailboxId then return false end
  if key ~= '' and message.load(id, 'key').key ~= key then return false end
  return among(looked.state, states) and scope.isWithin(looked.scopeId, scopeId)
end

packed.ahead(ids, 1)
for i, id in ipairs(ids) do
  if #chosen == limit or i > scanLimit then
    more = true
    break
  end
  if endsBefore(id, last) then break end
  last = id
  if isWanted(id) then chosen[#chosen + 1] = id end
end
packed.ahead(chosen, 1)
for _, id in ipairs(chosen) do
  local record = message.load(id)
  if record and record.mailboxId then
    found[#found + 1] = message.shown(record)
    bytes = bytes + #record.payload + #(record.result or '') + asked.bytes(record.question)
    if bytes > bytesLimit and id ~= ids[#ids] then
      last, more = id, true
      break
    end
  end
end
return call.answer({ nextCursor = more and last, messages = found })
