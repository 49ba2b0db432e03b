--- @export packed idsOf
--- @include lib/again lib/call lib/invocation lib/page lib/refuse lib/sorted lib/space
--- Packed messages. Workers pack finished messages, in the order they were sent, into segments: compressed texts that
--- only Node can read (src/primitives/mailbox/packed.ts). A packed message has no record, but stays in the indexes. If
--- a message has a record, the record wins over the segment. The index has an entry per segment, `last first number
--- digest count kind`, by which the range of its ids is found.
---
--- A script that needs a packed message replies PACKED. Node opens the segment and calls again with the wanted fields
--- in `openedMessages`: a line `{"<fields>": {"<digest>": {"<id>": [value, …]}}}`, then the long texts. The value of a
--- long text is its position, [from, bytes]. A damaged segment has `false` instead of values.
local packed = {}
--- The most ids asked for at once; fewer at first, as a page may need no more.
local maxWanted, maxFirst = 1000, 200

--- This invocation's knowledge of packed messages of the current space: `segment`, the last one found; `given`, the
--- fields that Node has opened, from the text `givenText`, in which long texts start at `textsAt`; `damaged`, the
--- digests of damaged segments, nil if Node has met none; `anyUnpacked`, whether any message had been unpacked before
--- this invocation; `upcoming` and `first`, the ids that the script loads next, which Node opens together.
local function current()
  local seen = invocation.packed
  if not seen or seen.space ~= spaceNumber then
    seen = { space = spaceNumber }
    invocation.packed = seen
  end
  return seen
end

--- Parses an entry of the index.
function packed.described(entry)
  local last, head, number, digest, messages, kind = string.match(entry, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return { entry = entry, last = last, first = head, number = number, digest = digest, count = tonumber(messages),
    kind = kind }
end

function packed.key(found)
  return keys.messageSegment(found.number)
end

function packed.newest()
  local entry = redis.call('ZRANGE', keys.messageSegments(), '+', '-', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
  return entry and packed.described(entry)
end

--- Whether a message has left its segment, which still lists it: it has a record again, or has been removed since.
local function isUnpacked(id)
  local seen = current()
  if seen.anyUnpacked == nil or invocation.isAtomic then
    seen.anyUnpacked = not sorted.isEmpty(keys.unpackedMessages())
  end
  return seen.anyUnpacked and sorted.score(keys.unpackedMessages(), id)
end

--- The segment that contains an id; nil if there is none.
local function segmentOf(id)
  local seen = current()
  local segment = seen.segment
  if not (segment and segment.first <= id and id <= segment.last) then
    local entry = redis.call('ZRANGE', keys.messageSegments(), '[' .. id, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
    local found = entry and packed.described(entry)
    if not found or id < found.first then return nil end
    segment, seen.segment = found, found
  end
  return not isUnpacked(id) and segment or nil
end

--- Announces the ids that the script loads next: `list`, starting at `from`.
function packed.ahead(list, from)
  current().upcoming, current().first = list, from
end

--- The detail for Node: the fields, then for each segment its entry, key and ids, separated by `;`.
local function wanted(id, names)
  local list, from, seen = { id }, 1, current()
  if seen.upcoming then list, from = seen.upcoming, seen.first end
  local parts, last = { 'messages', names }, nil
  for i = from, math.min(#list, from + (seen.textsAt and maxWanted or maxFirst) - 1) do
    local found = segmentOf(list[i])
    if found then
      if found ~= last then
        parts[#parts + 1], parts[#parts + 2] = found.entry, packed.key(found)
        last = found
      end
      parts[#parts + 1] = list[i]
    end
  end
  return table.concat(parts, ';')
end

--- Reads the fields that Node has opened for this request.
local function read()
  local seen, text = current(), invocation.script and openedMessages or ''
  if text == seen.givenText then return seen end
  seen.givenText, seen.given, seen.damaged, seen.textsAt = text, {}, nil, string.find(text, '\n', 1, true)
  if seen.textsAt then seen.given = cjson.decode(string.sub(text, 1, seen.textsAt - 1)) end
  for _, ofFields in pairs(seen.given) do
    for digest, ofSegment in pairs(ofFields) do
      if not ofSegment then
        seen.damaged = seen.damaged or {}
        seen.damaged[digest] = true
      end
    end
  end
  return seen
end

--- The damaged segment that contains a message; nil if Node has met none. A script that can do without the message
--- calls this before it loads it.
function packed.damaged(id)
  local damaged = read().damaged
  local found = damaged and segmentOf(id)
  if not (found and damaged[found.digest]) then return nil end
  -- A message with a record is not affected.
  return redis.call('EXISTS', keys.message(id)) == 0 and found or nil
end

--- Refuses because of a damaged segment. behind: the last id in it, if a list can continue after that id.
function packed.refuseDamaged(found, behind)
  refuse('MESSAGES_DAMAGED', found.first .. ' ' .. found.last .. (behind and ' ' .. behind or ''))
end

--- The last of the leading ids that are in the damaged segment.
function packed.lastDamaged(found, ids)
  local last
  for _, id in ipairs(ids) do
    local other = packed.damaged(id)
    if not other or other.entry ~= found.entry then break end
    last = id
  end
  return last
end

--- Replaces the positions of long texts by the texts.
local function whole(values)
  local seen = current()
  for i, value in ipairs(values) do
    if type(value) == 'table' then
      values[i] = string.sub(seen.givenText, seen.textsAt + value[1], seen.textsAt + value[1] + value[2] - 1)
    end
  end
  return values
end

--- The values of these fields of a packed message, or with `*` all fields and values, as HGETALL replies; nil if there
--- is no such message. Refuses if its segment is damaged.
function packed.values(id, names)
  local found = segmentOf(id)
  if not found then return nil end
  local seen = read()
  if seen.damaged and seen.damaged[found.digest] then packed.refuseDamaged(found) end
  local ofSegment = seen.given[names] and seen.given[names][found.digest]
  local values = ofSegment and ofSegment[id]
  if values then return whole(values) end
  if values == false then return nil end
  if not invocation.script then error('packed message ' .. id) end
  if seen.upcoming and not packed.isUpcoming(id) then seen.upcoming = nil end
  again('PACKED', wanted(id, names))
end

--- Whether an id was announced. If so, notes that the script has reached it.
function packed.isUpcoming(id)
  local seen = current()
  for i = seen.first, #seen.upcoming do
    if seen.upcoming[i] == id then
      seen.first = i
      return true
    end
  end
end

--- At most `limit` ids of a mailbox after `after` ('': from the start), oldest first, including packed messages.
local function idsOf(mailboxId, after, limit)
  local ids = idsAfter(keys.messages(mailboxId), after, limit)
  local through, from, size = ids[limit], after == '' and '-' or '(' .. after, 4
  local list, last = {}, after
  while #list < limit and not (through and last >= through) do
    local entries = redis.call('ZRANGE', keys.mailboxSegments(mailboxId), from, '+', 'BYLEX', 'LIMIT', 0, size)
    for _, entry in ipairs(entries) do
      local packedIds = {}
      for id in string.gmatch(entry, '%S+') do packedIds[#packedIds + 1] = id end
      for i = #packedIds, 1, -1 do
        if packedIds[i] > after and not isUnpacked(packedIds[i]) then list[#list + 1] = packedIds[i] end
      end
      last, from = packedIds[1], '(' .. entry
    end
    if #entries < size then break end
    size = 2 * size
  end
  if not list[1] then return ids end
  local both, i, j = {}, 1, 1
  while #both < limit and (ids[i] or list[j]) do
    local one, other = ids[i], list[j]
    if one and (not other or one < other) then
      both[#both + 1], i = one, i + 1
    else
      both[#both + 1], j = other, j + 1
    end
  end
  return both
end
