--- @include "lib/undo"
--- Hashes as a run reads and changes them: records by name (`message.load`, made by the loader), and maps by field. Each
--- field is read once; what has changed is written by unit.write, one HSET and one HDEL for each key.
local records = {}
--- Records by key, with the fields that have been read or set; an absent field is false, an absent record too.
local known
--- By key: the fields that have changed, false where one goes; the changes of counters that have not been read; of a new
--- record the function that lists its fields.
local changed, sums, fresh
--- One list for every command, which need not grow then, and one that is always empty.
local command, removal, nothing = { 'HSET' }, { 'HDEL' }, {}

function records.begin()
  known, changed, sums, fresh = {}, {}, {}, {}
end

--- Reads fields of a record as they are stored. Returns the record, and where it has not been read before the values.
function records.read(key, names)
  local record = known[key]
  if record then return record, record end
  local values = redis.call('HMGET', key, unpack(names))
  -- Room for every field at once: a table that grows with each is made anew again and again.
  record = { key = key, a = nil, b = nil, c = nil, d = nil, e = nil, f = nil, g = nil, h = nil, i = nil, j = nil, k = nil }
  for i = 1, #names do record[names[i]] = values[i] end
  known[key] = record
  return record, values
end

--- The value of a field of a map; false where there is none.
function records.get(key, field)
  local fields = changed[key]
  local value = fields and fields[field]
  if value ~= nil then return value end
  return redis.call('HGET', key, field)
end

local function mark(key, field, value)
  local fields = changed[key]
  if fields then
    put(fields, field, value)
  elseif not fresh[key] then
    put(changed, key, { [field] = value })
  end
end

--- Sets a field of a hash to a text, a whole number or true; false removes it.
function records.put(key, field, value)
  local record = known[key]
  if record then put(record, field, value) elseif record == false then put(known, key, nil) end
  mark(key, field, value)
end

--- Sets a field of a record that has been read.
function records.set(record, field, value)
  put(record, field, value)
  mark(record.key, field, value)
end

--- Adds to a counter, which need not have been read.
function records.add(key, field, change)
  local record = known[key]
  local value = record and record[field]
  if value ~= nil or record and record.isNew then
    records.set(record, field, (value or 0) + change)
  elseif sums[key] then
    put(sums[key], field, (sums[key][field] or 0) + change)
  else
    put(sums, key, { [field] = change })
  end
end

--- For `<record>.insert(record)`, which the loader makes. list: puts the fields of it into a command.
function records.insert(key, record, list)
  record.key, record.isNew = key, true
  put(known, key, record)
  put(fresh, key, list)
end

--- For unit.delete.
function records.forget(key)
  put(known, key, false)
  put(changed, key, nil)
  put(sums, key, nil)
  put(fresh, key, nil)
end

--- All fields of a hash and their values as they are stored, without the changes of this run.
function records.stored(key)
  local flat, fields = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

function records.isChanged(key)
  return changed[key] or sums[key] or fresh[key]
end

--- Puts the sums of counters that nobody has read among the changed fields.
local function settle(key, fields)
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  local values = redis.call('HMGET', key, unpack(names))
  local all = changed[key] or {}
  changed[key] = all
  for i, name in ipairs(names) do all[name] = (values[i] or 0) + fields[name] end
end

local function write(key, fields)
  local set, gone = 2, 2
  command[2], removal[2] = key, key
  for field, value in pairs(fields) do
    if value then
      -- As text: Redis formats a Lua number digit by digit.
      if type(value) == 'number' then value = string.format('%d', value) elseif value == true then value = '1' end
      command[set + 1], command[set + 2], set = field, value, set + 2
    else
      removal[gone + 1], gone = field, gone + 1
    end
  end
  if set > 2 then redis.call(unpack(command, 1, set)) end
  if gone > 2 then redis.call(unpack(removal, 1, gone)) end
end

--- Writes a new record: what has no value, or the one that its declaration says for that, is left out.
local function writeNew(key, list)
  command[2] = key
  redis.call(unpack(command, 1, list(known[key], command)))
  known[key].isNew = nil
end

function records.write()
  for key, list in pairs(fresh) do writeNew(key, list) end
  for key, fields in pairs(sums) do settle(key, fields) end
  for key, fields in pairs(changed) do
    write(key, fields)
  end
  changed, sums, fresh = {}, {}, {}
end
