--- Removes a segment of packed messages. rows: a JSON list of all its messages, each with id, mailboxId, scopeId,
--- state, finishedAt, isTask, bytes (retained), hasAsked (questions), and workKey and key if it has one. Tasks leave
--- tombstones: for a segment of MESSAGES, `tombstones` is a segment of `countOf` tombstones with this `digest`, or ''.
--- Does nothing if the segment has changed.
--- @args spaceId requestId entry digest countOf
--- @long rows tombstones
--- @reply isDone
--- @include lib/count lib/maps lib/records lib/sorted lib/space lib/unit lib/usage group/_task mailbox/_mailbox
--- @include mailbox/_message mailbox/_others mailbox/_packed mailbox/_remove mailbox/_segments scope/_retain
--- @include scope/_scope space/_space
if not keyspace.find() then return { isDone = 0 } end
local segment = packed.described(entry)
local finishedThrough = redis.call('ZSCORE', keys.messageSegmentEnds(segment.kind), entry)
if not finishedThrough then return { isDone = 0 } end
local record = space.load(spaceId, 'usageDay', 'messageSegments')
usage.enterToday(record)
-- Messages unpacked since then have, or had, a record of their own.
local isUnpacked, unpacked = {}, redis.call('ZRANGE', keys.unpackedMessages(), '[' .. segment.first,
  '[' .. segment.last, 'BYLEX')
for _, id in ipairs(unpacked) do isUnpacked[id] = true end

local list, scopes = cjson.decode(rows), {}

--- Removes a message from the indexes of its scope.
local function leaveScope(row)
  sorted.remove(keys.scopeMessages(row.scopeId), row.id)
  scopes[row.scopeId] = math.max(scopes[row.scopeId] or 0, row.finishedAt)
end

local function removeMessage(row)
  local mailboxId, state = row.mailboxId, row.state
  if row.workKey then maps.remove(keys.workKeys(mailboxId), row.workKey) end
  if row.hasAsked then asked.forget(row.id, row.finishedAt) end
  if row.key then sorted.remove(keys.keyed(mailboxId, row.key), row.id) end
  if message.requeueable[state] then sorted.remove(keys.requeueable(mailboxId, state), row.id) end
  if state == 'FAILED' and mailbox.read(mailboxId) then records.add(keys.mailbox(mailboxId), 'failed', -1) end
  message.remove(mailboxId, state)
  if mailbox.anyBlocked() then dependents.gone(row.id, state) end
  count.space('retainedBytes', -row.bytes)
  if row.isTask then
    count.space('tombstones:' .. task.state(state), 1)
  else
    count.space('inbox:' .. state, -1)
    leaveScope(row)
  end
end

for _, row in ipairs(list) do
  local isTombstone = segment.kind == 'TOMBSTONES'
  if not isUnpacked[row.id] and not isTombstone then removeMessage(row) end
  if not isUnpacked[row.id] and isTombstone then
    count.space('tombstones:' .. task.state(row.state), -1)
    leaveScope(row)
  end
end
packing.removeSegment(entry)
if segment.kind == 'MESSAGES' then
  packing.removeRows(list)
  -- Usually an unpacked message goes with its event, but the event of one unpacked late may already be gone.
  for _, id in ipairs(unpacked) do message.removeOld(id, tonumber(finishedThrough)) end
end
if tombstones ~= '' then
  packing.addSegment(record,
    { last = segment.last, first = segment.first, digest = digest, count = countOf, kind = 'TOMBSTONES' }, tombstones,
    finishedThrough)
else
  for _, id in ipairs(unpacked) do sorted.remove(keys.unpackedMessages(), id) end
end
unit.write()
for scopeId, at in pairs(scopes) do scope.release(scopeId, at) end
unit.write()
return { isDone = 1 }
