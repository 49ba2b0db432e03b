--- @include "lib/gathered"
--- Records as a run reads and changes them, by name (`message.load`, `message.insert`, made by the loader). A run has each
--- once, whoever asks; one HSET and one HDEL for each are written at its end.
local records = {}
--- By key. Absent fields are false; a record that is not there is false. The list in it has the names of the `n` fields
--- that have changed; `isNew`: the others are not stored.
local known
--- Those that have changed, and how many; by key the changes of counters that nobody has read.
local dirty, dirties = {}, 0
--- New ones, each with the function that makes the command that writes it.
local fresh, freshes = {}, 0
local sums
--- Of lib/count, where this run has counted: adds what it has summed up.
local collecting
--- One list for every command, which need not grow then, and one that is always empty.
local command, removal, nothing = { 'HSET' }, { 'HDEL' }, {}

function records.begin()
  known, dirties, freshes, sums, collecting = {}, 0, 0, nil, nil
end

--- Tells of what a script has read by itself.
function records.keep(record)
  known[record.key] = record
end

local function mark(record, field)
  changes = changes + 1
  local n = record.n
  -- A new one will be written as it is then.
  if not n then return end
  for i = 1, n do
    if record[i] == field then return end
  end
  if n == 0 then dirties, dirty[dirties + 1] = dirties + 1, record end
  record[n + 1], record.n = field, n + 1
end

--- Sets a field to a text, a whole number or true; false removes it.
function records.set(record, field, value)
  record[field] = value
  mark(record, field)
end

--- The same of a record that need not have been read.
function records.put(key, field, value)
  local record = known[key]
  if not record then
    record = { n = 0, key = key }
    known[key] = record
  end
  record[field] = value
  mark(record, field)
end

--- Adds to a counter, which need not have been read.
function records.add(key, field, change)
  local record = known[key]
  local value = record and record[field]
  if value ~= nil or record and record.isNew then
    record[field] = (value or 0) + change
    mark(record, field)
  else
    changes = changes + 1
    sums = sums or {}
    local ofKey = sums[key]
    if ofKey then ofKey[field] = (ofKey[field] or 0) + change else sums[key] = { [field] = change } end
  end
end

--- Adds to the fields of a record that has just been read what was added to them before.
local function fold(record)
  local ofKey = sums[record.key]
  for name, change in pairs(ofKey or nothing) do
    if record[name] ~= nil then
      record[name], ofKey[name] = (record[name] or 0) + change, nil
      mark(record, name)
    end
  end
end

--- For `<record>.insert(record)`, which the loader makes. written: puts its fields, as they are then, into a command.
function records.insert(key, record, written)
  changes = changes + 1
  record.key, record.isNew, known[key] = key, true, record
  fresh[freshes + 1], fresh[freshes + 2], freshes = record, written, freshes + 2
end

--- For unit.delete.
function records.forget(key)
  local record = known[key]
  if record then record.n = 0 end
  known[key] = false
  for i = 1, freshes, 2 do
    if fresh[i] == record then fresh[i] = false end
  end
  if sums then sums[key] = nil end
end

--- All fields of a hash and their values as they are stored, without the changes of this run.
function records.stored(key)
  local flat, fields = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

function records.isChanged(key)
  local record = known[key]
  return record and (record.isNew or record.n > 0) or sums and sums[key]
end

--- Puts counters that nobody has read among the changed fields.
local function addSums(key, fields)
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  if not names[1] then return end
  local values = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do records.put(key, name, (values[i] or 0) + fields[name]) end
end

function records.write()
  if collecting then collecting() end
  for key, fields in pairs(sums or nothing) do addSums(key, fields) end
  for i = 1, freshes, 2 do
    local record = fresh[i]
    if record then
      command[2] = record.key
      redis.call(unpack(command, 1, fresh[i + 1](record, command)))
      record.isNew, record.n = nil, 0
    end
    fresh[i], fresh[i + 1] = nil, nil
  end
  local kindOf, text = type, string.format
  for r = 1, dirties do
    local record = dirty[r]
    local set, gone, count = 2, 2, record.n
    command[2], dirty[r], record.n = record.key, nil, 0
    for i = 1, count do
      local field = record[i]
      local value = record[field]
      if value then
        -- As text: Redis formats a Lua number digit by digit.
        if kindOf(value) == 'number' then value = text('%d', value) elseif value == true then value = '1' end
        command[set + 1], command[set + 2], set = field, value, set + 2
      else
        removal[gone + 1], gone = field, gone + 1
      end
    end
    if set > 2 then redis.call(unpack(command, 1, set)) end
    if gone > 2 then
      removal[2] = record.key
      redis.call(unpack(removal, 1, gone))
    end
  end
  dirties, freshes, sums = 0, 0, nil
end
