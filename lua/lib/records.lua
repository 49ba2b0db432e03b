--- Records whose fields a script changes one by one: read once in a run of several requests, and what has changed of
--- each written at its end by one command (count.write).
local records = {}
--- By key; and those that have changed.
local known, changed

function records.begin()
  known, changed = {}, {}
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
  if known[key] then known[key].changes = {} end
  known[key] = nil
end

--- Sets a field to a text or a whole number.
function records.set(record, field, value)
  record[field] = value
  local changes = record.changes
  if not changes then
    changes = {}
    record.changes, changed[#changed + 1] = changes, record
  end
  changes[field] = true
end

function records.write()
  for i = 1, #changed do
    local record = changed[i]
    local args, n = { 'HSET', record.key }, 2
    for field in pairs(record.changes) do
      local value = record[field]
      -- As text: Redis formats a Lua number digit by digit.
      args[n + 1], args[n + 2], n = field, type(value) == 'number' and string.format('%d', value) or value, n + 2
    end
    record.changes = nil
    if n > 2 then redis.call(unpack(args)) end
  end
  changed = {}
end

--- A hash by the names of its fields; nil where there is none. One field costs as much to ask for as two come for unasked.
function records.load(key)
  local flat = redis.call('HGETALL', key)
  if not flat[1] then return nil end
  local record = {}
  for i = 1, #flat, 2 do record[flat[i]] = flat[i + 1] end
  return record
end
