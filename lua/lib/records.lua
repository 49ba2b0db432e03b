--- Records whose fields a script changes one by one: read once in a run of several requests, and what has changed of
--- each written at its end by one command (count.write).
local records = {}
--- By key; and of those that have changed the names of the fields.
local known, changes
--- One list for every HSET of changed fields, lib/count's too, which need not grow then.
local command = { 'HSET' }

function records.begin()
  known, changes = {}, {}
end

--- The record as this run has read and changed it; nil where it has not read it.
function records.known(key)
  return known[key]
end

--- Keeps a record that has been read under this key, and returns it.
function records.keep(key, record)
  record.key, known[key] = key, record
  return record
end

--- Forgets a record that is about to go.
function records.forget(key)
  known[key], changes[key] = nil, nil
end

--- Sets a field to a text or a whole number.
function records.set(record, field, value)
  record[field] = value
  local fields = changes[record.key]
  if fields then fields[field] = true else changes[record.key] = { [field] = true } end
end

function records.write()
  for key, fields in pairs(changes) do
    local record, n = known[key], 2
    command[2] = key
    for field in pairs(fields) do
      local value = record[field]
      -- As text: Redis formats a Lua number digit by digit.
      command[n + 1], command[n + 2], n = field, type(value) == 'number' and string.format('%d', value) or value, n + 2
    end
    redis.call(unpack(command, 1, n))
  end
  changes = {}
end
