--- A note with its value.
--- @request read
--- @args scopeId key
--- @reply note:note
--- @include lib/call lib/maps lib/refuse note/_note
local record = note.find(scopeId, key) or refuse('NOTE_NOT_FOUND')
record.value = maps.get(keys.noteTexts(scopeId), '=' .. key)
return call.answer({ note = record })
