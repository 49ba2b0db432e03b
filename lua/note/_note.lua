--- @record note
--- @include lib/clock lib/finished lib/journal lib/maps lib/records mailbox/_others mailbox/_waits scope/_scope
--- Notes of a scope: a sorted set of their keys, which lists walk in order, and one hash with two fields per note.
--- `#key` has the data for compare-and-set and for lists without values; `=key` has the value. So a put is one HSET,
--- and a value is read only on request. The scope's record counts its notes, their bytes, its puts,
--- and the messages that wait for its notes.

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
  return scope.load(scopeId, 'path', 'notes', 'noteBytes', 'noteVersion', 'noteWaits')
end

--- A quote would end the text in an event's payload.
local escapes = { ['\\'] = '\\\\', ['"'] = '\\u0022' }

function noted.version(scopeId, key)
  local record = note.find(scopeId, key)
  return record and record.version or 0
end

function noted.waits(scopeId, change)
  local counts = note.countsOf(scopeId)
  records.set(counts, 'noteWaits', counts.noteWaits + change)
  -- A scope is kept while messages wait for its notes, then like one whose last record has been removed.
  if counts.noteWaits == 0 then finished.add('scope:scope', scopeId, nowText) end
end

--- Wakes reads that wait for another version than this one, which it had before, and suspended messages. Returns the
--- payload of the event.
function note.changed(record, before)
  local scopeId, key = record.scopeId, record.key
  if note.countsOf(scopeId).noteWaits > 0 then
    waits.touch(waits.ofNote(scopeId, key, string.format('%d', before)), nil, function()
      return noted.version(scopeId, key) ~= before and 'CHANGED'
    end)
  end
  journal.wake(redis.sha1hex(record.scopeId .. ' ' .. record.key))
  return { scopeId = record.scopeId, key = string.gsub(record.key, '[\\"]', escapes), version = record.version }
end
