--- @export packed
--- @include lib/call lib/refuse lib/invocation lib/sendBack lib/sorted
--- Packed messages. Workers turn finished messages, in the order in which they were sent, into segments: compressed texts
--- that only Node can read (src/mailbox/packed.ts). They have no record of their own, but are in the indexes as before; a
--- record wins over what a segment says. The index has an entry for each segment, `last first number digest count kind`, so
--- that the range of its ids finds it. A script that needs a packed message replies PACKED; Node opens its segment and calls
--- again with the wanted fields of it in `unpacked`: `{"<fields>": {"<digest>": {"<id>": [value, …]}}}` in a
--- line, then long texts, for which the values have their places, [from, bytes]. A digest with false is of a damaged
--- segment.
local packed = {}
--- Ids that are asked for at once; fewer at first, as a page may need no more.
local maxWanted, maxFirst = 1000, 200

--- What this invocation knows of packed messages: the segment that was found last; what Node has unpacked, the text that it
--- comes from and where its long texts begin; `damaged`: digests of segments that are damaged, nil while Node has met none;
--- anyUnpacked: whether any message was unpacked before this invocation; upcoming and first: ids that the script is going to
--- load next, which Node opens together.
local function current()
  invocation.packed = invocation.packed or {}
  return invocation.packed
end

--- A segment from its entry in the index.
function packed.described(entry)
  local last, head, number, digest, messages, kind = string.match(entry, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return { entry = entry, last = last, first = head, number = number, digest = digest, count = tonumber(messages), kind = kind }
end

--- The key of its content.
function packed.key(found)
  return keys.messageSegment(found.number)
end

--- The newest segment; nil if there is none.
function packed.newest()
  local entry = redis.call('ZRANGE', keys.messageSegments(), '+', '-', 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
  return entry and packed.described(entry)
end

--- The segment whose range has an id; nil if there is none.
local function segmentOf(id)
  local seen = current()
  local segment = seen.segment
  if not (segment and segment.first <= id and id <= segment.last) then
    local entry = redis.call('ZRANGE', keys.messageSegments(), '[' .. id, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
    local found = entry and packed.described(entry)
    if not found or id < found.first then return nil end
    segment, seen.segment = found, found
  end
  if seen.anyUnpacked == nil or invocation.isWhole then seen.anyUnpacked = not sorted.isEmpty(keys.unpackedMessages()) end
  return not (seen.anyUnpacked and sorted.score(keys.unpackedMessages(), id)) and segment or nil
end

--- Which ids the script loads next: list[from] and those behind it.
function packed.ahead(list, from)
  current().upcoming, current().first = list, from
end

--- What Node needs: the fields, then for each segment its entry, the key and the ids, all with `;` between.
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

--- Reads what Node has unpacked for the request.
local function read()
  local seen, text = current(), invocation.script and unpacked or ''
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

--- The damaged segment that has a message; nil where Node has not met one. A script that can go on without the message
--- asks before it loads it.
function packed.damaged(id)
  local damaged = read().damaged
  local found = damaged and segmentOf(id)
  if not (found and damaged[found.digest]) then return nil end
  -- One that was not packed with those around it.
  return redis.call('EXISTS', keys.message(id)) == 0 and found or nil
end

--- Refuses because of a damaged segment. behind: the last id of a list that is in it, if the caller can go on from there.
function packed.refuseDamaged(found, behind)
  refuse('MESSAGES_DAMAGED', found.first .. ' ' .. found.last .. (behind and ' ' .. behind or ''))
end

--- The last of the first ids that are in a damaged segment.
function packed.lastDamaged(found, ids)
  local last
  for _, id in ipairs(ids) do
    local other = packed.damaged(id)
    if not other or other.entry ~= found.entry then break end
    last = id
  end
  return last
end

--- With long texts in their places.
local function whole(values)
  local seen = current()
  for i, value in ipairs(values) do
    if type(value) == 'table' then
      values[i] = string.sub(seen.givenText, seen.textsAt + value[1], seen.textsAt + value[1] + value[2] - 1)
    end
  end
  return values
end

--- The values of these fields of a packed message, or with `*` all that are set, as HGETALL replies; nil if there is no
--- such message. Refuses where it cannot be read.
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
  sendBack('PACKED', wanted(id, names))
end

--- Whether an id is one of those announced; the script has come to it.
function packed.isUpcoming(id)
  local seen = current()
  for i = seen.first, #seen.upcoming do
    if seen.upcoming[i] == id then
      seen.first = i
      return true
    end
  end
end
