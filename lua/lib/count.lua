--- @include "lib/space"
--- @include "lib/later"
--- @include "lib/records"
--- Counters of the space at hand and of its organization (the census, plan usage). Changes are gathered while a
--- script runs and written by count.write: one command for each of the two records, with their plain fields.
local count = {}
--- What has been read of the two records: names, and their values from `offset` on.
local known = { space = {}, org = {} }

--- Nothing is gathered.
function count.begin()
  count.space, count.org, count.setSpace, count.setOrg = {}, {}, {}, {}
  known.space.names, known.org.names = nil, nil
end

--- Tells of fields that the script has read in a record ('space' or 'org'): counters among them are not read again
--- before they are written.
function count.know(record, names, values, offset)
  local of = known[record]
  of.names, of.values, of.offset = names, values, offset
end

local function valueOf(of, name)
  local names = of.names
  if not names then return nil end
  for i = 1, #names do
    if names[i] == name then return of.values[of.offset + i] or 0 end
  end
end

--- A counter of the space has been removed from its record.
function count.forget(name)
  local of = known.space
  for i, other in ipairs(of.names or {}) do
    if other == name then of.values[of.offset + i] = false end
  end
end

function count.add(counters, name, change)
  counters[name] = (counters[name] or 0) + change
end

local function writeRecord(key, counters, set, of)
  local n, unknown = 2, nil
  command[2] = key
  for name, change in pairs(counters) do
    if change ~= 0 then
      local value = valueOf(of, name)
      if value then
        -- As text: Redis formats a Lua number digit by digit.
        command[n + 1], command[n + 2], n = name, string.format('%d', value + change), n + 2
      elseif unknown then
        unknown[#unknown + 1] = name
      else
        unknown = { name }
      end
    end
  end
  if unknown then
    local values = redis.call('HMGET', key, unpack(unknown))
    for i, name in ipairs(unknown) do
      command[n + 1], command[n + 2], n = name, string.format('%d', (values[i] or 0) + counters[name]), n + 2
    end
  end
  for name, value in pairs(set) do command[n + 1], command[n + 2], n = name, value, n + 2 end
  if n > 2 then redis.call(unpack(command, 1, n)) end
end

--- What is gathered for the space at hand, before the turn of another one.
function count.writeSpace()
  writeRecord(keys.space(), count.space, count.setSpace, known.space)
  count.space, count.setSpace, known.space.names = {}, {}, nil
end

--- Everything that the script has gathered. Nothing may be counted after it, but after count.begin.
function count.write()
  writeRecord(keys.space(), count.space, count.setSpace, known.space)
  writeRecord(keys.org(), count.org, count.setOrg, known.org)
  records.write()
  later.write()
end
