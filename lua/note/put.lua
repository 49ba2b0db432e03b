--- Puts a note, and creates its scope if that is new. ifVersion: the version the note must have, 0 if it must not
--- exist; '' for any. messageId, token: a claim that must be live; '' for none.
--- @request write
--- @space maxPayloadBytes
--- @args scopeId key ifVersion messageId token
--- @long value
--- @reply isNew note:putNote
--- @gather
--- @include lib/call lib/clock lib/count lib/decimal lib/finished lib/maps lib/plan lib/records lib/refuse lib/sorted
--- @include lib/space lib/volume mailbox/_claim mailbox/_message note/_note scope/_scope
local maxNotes, maxBytes = 10000, 16777216
local holder = ''
if messageId ~= '' then
  local claimed = message.load(messageId, 'mailboxId', 'scopeId', 'state', 'attempts', 'token', 'leaseExpiresAt',
    'place', 'holder')
  checkClaim(claimed, token)
  holder = claimed.holder
end
-- One read for all that follows.
scope.load(scopeId, 'path', 'live', 'cancelledAt', 'endedAcked', 'notes', 'noteBytes', 'noteVersion', 'noteWaits')
local path, known = scope.path(scopeId), note.find(scopeId, key)
scope.needRunning(path)
local version = known and known.version or 0
if ifVersion ~= '' and tonumber(ifVersion) ~= version then refuse('VERSION_CONFLICT', version) end
plan.needOperation()
local limit = keyspace.record.maxPayloadBytes
if #value > tonumber(limit) then refuse('PAYLOAD_TOO_LARGE', 'value ' .. limit) end
scope.check(path)
local more = #value - (known and known.bytes or 0)
volume.need(more)
if path then
  local counts = note.countsOf(scopeId)
  if not known and counts.notes >= maxNotes then refuse('NOTES_FULL', 'notes ' .. maxNotes) end
  if more > 0 and counts.noteBytes + more > maxBytes then refuse('NOTES_FULL', 'bytes ' .. maxBytes) end
else
  scope.create(scopeId)
  -- Until the scope has other records, retention treats it like a finished record.
  finished.add('scope:scope', scopeId, nowText)
end

local counts = note.countsOf(scopeId)
records.set(counts, 'noteVersion', counts.noteVersion + 1)
records.set(counts, 'noteBytes', counts.noteBytes + more)
scope.use(scopeId)
if not known then
  records.set(counts, 'notes', counts.notes + 1)
  sorted.add(keys.notes(scopeId), '0', key)
end
count.space('retainedBytes', more)
local record = { scopeId = scopeId, key = key, version = counts.noteVersion, holder = holder ~= '' and holder,
  createdAt = known and known.createdAt or now, updatedAt = now }
local head = decimal(record.version) .. ' ' .. decimal(record.createdAt) .. ' ' .. nowText .. ' ' .. #value .. ' '
  .. holder
maps.put(keys.noteTexts(scopeId), '#' .. key, head)
maps.put(keys.noteTexts(scopeId), '=' .. key, value)
emit.note.put(scopeId, note.changed(record, version))
return call.answer({ isNew = not known and 1, note = record }, 'operation')
