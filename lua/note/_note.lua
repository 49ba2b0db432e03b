--- @record note
--- @include lib/journal lib/maps scope/_scope
--- Notes of a scope: a sorted set of their keys, which lists walk in order, and one hash with two fields per note.
--- `#key` has the data for compare-and-set and for lists without values; `=key` has the value. So a put is one HSET,
--- and a value is read only on request. The scope's record counts its notes, their bytes and its puts.

--- A note without its value, from its stored text; nil if there is none.
function note.parsed(scopeId, key, text)
  if not text then return nil end
  local version, createdAt, updatedAt, bytes, holder = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  return { scopeId = scopeId, key = key, version = tonumber(version), createdAt = tonumber(createdAt),
    updatedAt = tonumber(updatedAt), bytes = tonumber(bytes), holder = holder ~= '' and holder }
end

--- A note without its value, by its key.
function note.find(scopeId, key)
  return note.parsed(scopeId, key, maps.get(keys.noteTexts(scopeId), '#' .. key))
end

--- The record of an existing scope, with the counters of its notes.
function note.countsOf(scopeId)
  return scope.load(scopeId, 'path', 'notes', 'noteBytes', 'noteVersion')
end

--- A quote would end the text in an event's payload.
local escapes = { ['\\'] = '\\\\', ['"'] = '\\u0022' }

--- Wakes reads that wait for another version. Returns the payload of the event.
function note.changed(record)
  journal.wake(redis.sha1hex(record.scopeId .. ' ' .. record.key))
  return { scopeId = record.scopeId, key = string.gsub(record.key, '[\\"]', escapes), version = record.version }
end
