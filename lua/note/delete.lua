--- Deletes a note. ifVersion: the version it must have; '' for any.
--- @request write
--- @space retainedBytes
--- @args scopeId key ifVersion
--- @reply
--- @include lib/audit lib/call lib/caller lib/count lib/maps lib/plan lib/records lib/refuse lib/sorted note/_note
--- @include scope/_scope
local record = note.find(scopeId, key) or refuse('NOTE_NOT_FOUND')
scope.needRunning(scope.path(scopeId))
if ifVersion ~= '' and tonumber(ifVersion) ~= record.version then refuse('VERSION_CONFLICT', record.version) end
plan.needOperation()

local counts = note.countsOf(scopeId)
records.set(counts, 'notes', counts.notes - 1)
records.set(counts, 'noteBytes', counts.noteBytes - record.bytes)
count.space('retainedBytes', -record.bytes)
sorted.remove(keys.notes(scopeId), key)
maps.remove(keys.noteTexts(scopeId), '#' .. key)
maps.remove(keys.noteTexts(scopeId), '=' .. key)
emit.note.deleted(scopeId, note.changed(record, record.version))
audit('note.deleted', caller.actor(), scopeId, inSpace('"key":' .. cjson.encode(key)))
return call.answer(nil, 'operation')
