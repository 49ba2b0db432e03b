--- @include "lib/space"
--- Counters of the space at hand and of its organization (the census, plan usage). Changes are gathered while a
--- script runs and written by count.write, together with the plain fields of the same two records.
local count = {}

--- Nothing is gathered.
function count.begin()
  count.space, count.org, count.setSpace, count.setOrg = {}, {}, {}, {}
end

function count.add(counters, name, change)
  counters[name] = (counters[name] or 0) + change
end

--- A field of the space's record as it will be written; `value` as it was read.
function count.current(name, value)
  local change = count.space[name]
  return count.setSpace[name] or (change and (value or 0) + change) or value
end

--- As text: Redis formats a Lua number digit by digit, the usual ones need not be.
local changes = { [1] = '1', [-1] = '-1' }

local function writeRecord(key, counters, set)
  for name, change in pairs(counters) do
    if change ~= 0 then redis.call('HINCRBY', key, name, changes[change] or string.format('%d', change)) end
  end
  if next(set) then
    local fields = {}
    for name, value in pairs(set) do
      local n = #fields
      fields[n + 1], fields[n + 2] = name, value
    end
    redis.call('HSET', key, unpack(fields))
  end
end

--- What is gathered for the space at hand, before the turn of another one.
function count.writeSpace()
  writeRecord(keys.space(), count.space, count.setSpace)
  count.space, count.setSpace = {}, {}
end

function count.write()
  count.writeSpace()
  writeRecord(keys.org(), count.org, count.setOrg)
end
