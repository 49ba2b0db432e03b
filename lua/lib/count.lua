--- @include "lib/space"
--- Counters of the space at hand and of its organization (the census, plan usage). Changes are gathered while a
--- script runs and written once by count.write, together with the plain fields of the same two records.
--- `known*` are counters that have been read already.
local count = {}

--- Nothing is gathered, nothing is known.
function count.begin()
  count.space, count.org, count.setSpace, count.setOrg, count.knownSpace, count.knownOrg = {}, {}, {}, {}, {}, {}
end

function count.add(counters, name, change)
  counters[name] = (counters[name] or 0) + change
end

local function writeRecord(key, counters, known, set)
  local unknown
  for name, change in pairs(counters) do
    local value = known[name]
    if value then
      set[#set + 1] = name
      set[#set + 1] = string.format('%d', value + change)
    elseif change ~= 0 then
      unknown = unknown or {}
      unknown[#unknown + 1] = name
    end
  end
  if unknown then
    local values = redis.call('HMGET', key, unpack(unknown))
    for i, name in ipairs(unknown) do
      set[#set + 1] = name
      set[#set + 1] = string.format('%d', (tonumber(values[i]) or 0) + counters[name])
    end
  end
  if set[1] then redis.call('HSET', key, unpack(set)) end
end

function count.write()
  writeRecord(keys.space(), count.space, count.knownSpace, count.setSpace)
  writeRecord(keys.org(), count.org, count.knownOrg, count.setOrg)
end
