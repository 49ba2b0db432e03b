--- @include "lib/clock"
--- @include "lib/space"
--- The rows of attempts: one stream per space.
local row = {}

--- The UUIDv7 that stands for a stream's entry; src/event/record.ts says how. The tails tell events and rows apart.
function row.uuid(entryId, tail)
  local ms, sequence = string.match(entryId, '^(%d+)-(%d+)$')
  local time = string.format('%012x', ms)
  sequence = tonumber(sequence)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9) .. string.format('-7%03x-%04x-%04x', math.floor(sequence / 1073741824) % 4096,
    32768 + math.floor(sequence / 65536) % 16384, sequence % 65536) .. tail
end

--- The entry that such an id stands for; nil for any other id.
function row.entryOf(uuid)
  local time, high, middle, low = string.match(uuid, '^(%x+%-%x+)%-7(%x%x%x)%-(%x%x%x%x)%-(%x%x%x%x)')
  if not time then return nil end
  return string.format('%d-%d', tonumber((string.gsub(time, '-', '')), 16),
    tonumber(high, 16) * 1073741824 + tonumber(middle, 16) % 16384 * 65536 + tonumber(low, 16))
end

function row.eventId(entryId)
  return row.uuid(entryId, string.sub(spaceId, -8))
end

function row.id(entryId)
  return row.uuid(entryId, string.sub(spaceId, 25, 32))
end

--- Writes one attempt's row; the list is what is answered, after the row's own entry id. '' is null.
function row.record(destinationId, eventId, eventType, attempt, trigger, state, responseStatus, errorCode, durationMs, attemptedAt, nextAttemptAt)
  local values = { destinationId, eventId, eventType, attempt, trigger, state, responseStatus, errorCode, durationMs, attemptedAt, nextAttemptAt }
  local entryId = redis.pcall('XADD', keys.deliveries(), nowText .. '-*', 'row', cmsgpack.pack(values))
  if entryId.err then entryId = redis.call('XADD', keys.deliveries(), '*', 'row', cmsgpack.pack(values)) end
  return entryId, values
end
