--- @export row
--- @include lib/space lib/streams lib/unit
--- The rows of attempts: one stream per space.
local row = {}

--- The UUIDv7 of a stream entry, as in src/primitives/event/record.ts. Events and rows differ in their tails.
function row.uuid(entryId, tail)
  local ms, sequence = string.match(entryId, '^(%d+)-(%d+)$')
  local time = string.format('%012x', ms)
  sequence = tonumber(sequence)
  return string.sub(time, 1, 8) .. '-' .. string.sub(time, 9)
    .. string.format('-7%03x-%04x-%04x', math.floor(sequence / 1073741824) % 4096,
      32768 + math.floor(sequence / 65536) % 16384, sequence % 65536) .. tail
end

--- The entry id in such a UUID; nil for any other id.
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

local fields = { 'destinationId', 'eventId', 'eventType', 'attempt', 'trigger', 'state', 'responseStatus', 'errorCode',
  'durationMs', 'attemptedAt', 'nextAttemptAt' }

--- An absent value is packed as ''.
local function pack(record)
  local values = {}
  for i, name in ipairs(fields) do values[i] = record[name] or '' end
  return cmsgpack.pack(values)
end

--- A row as a record, without its id.
function row.unpack(entry)
  local record = {}
  for i, value in ipairs(cmsgpack.unpack(entry[2][2])) do record[fields[i]] = value end
  return record
end

--- Writes an attempt's row and sets its id. One invocation writes at most one row.
function row.write(record)
  local entryId = streams.nextId(keys.deliveries())
  unit.command('XADD', keys.deliveries(), entryId, 'row', pack(record))
  record.id = row.id(entryId)
  return record
end
