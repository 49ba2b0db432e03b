--- @record note
--- @include lib/journal lib/maps scope/_scope
--- Notes of a scope: a sorted set of their keys, which lists walk in order, and one hash with two fields for each note: `#key`
--- has what compare-and-set and lists without values need, `=key` the value. So a put is one HSET, and only those who ask for
--- a value read it. The record of the scope counts its notes, their bytes and its puts.

--- A note without its value, from its stored text; nil where there is none.
function note.parsed(scopeId, key, text)
  if not text then return nil end
  local version, createdAt, updatedAt, bytes, holder = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  return { scopeId = scopeId, key = key, version = tonumber(version), createdAt = tonumber(createdAt),
    updatedAt = tonumber(updatedAt), bytes = tonumber(bytes), holder = holder ~= '' and holder }
end

--- The same by its key.
function note.find(scopeId, key)
  return note.parsed(scopeId, key, maps.get(keys.noteTexts(scopeId), '#' .. key))
end

--- The record of a scope that exists, with what it counts of its notes.
function note.countsOf(scopeId)
  return scope.load(scopeId, 'path', 'notes', 'noteBytes', 'noteVersion')
end

--- A quote would end the text that an event's payload has.
local escapes = { ['\\'] = '\\\\', ['"'] = '\\u0022' }

--- Wakes the reads that wait for another version. Returns what the event says.
function note.changed(record)
  journal.wake(redis.sha1hex(record.scopeId .. ' ' .. record.key))
  return { scopeId = record.scopeId, key = string.gsub(record.key, '[\\"]', escapes), version = record.version }
end
