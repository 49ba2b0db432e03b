--- Counters of the space at hand and of its organization (the census, plan usage). Changes are gathered while a
--- script runs and written once by count.write, together with the plain fields of the same two records.
local count = { space = {}, org = {}, setSpace = {}, setOrg = {} }

function count.add(counters, name, change)
  counters[name] = (counters[name] or 0) + change
end

local function writeRecord(key, counters, set)
  local names = {}
  for name, change in pairs(counters) do
    if change ~= 0 then names[#names + 1] = name end
  end
  if #names > 0 then
    local values = redis.call('HMGET', key, unpack(names))
    for i, name in ipairs(names) do
      set[#set + 1] = name
      set[#set + 1] = (tonumber(values[i]) or 0) + counters[name]
    end
  end
  if #set > 0 then redis.call('HSET', key, unpack(set)) end
end

function count.write()
  writeRecord(keys.space(), count.space, count.setSpace)
  writeRecord(keys.org(), count.org, count.setOrg)
  count.space, count.org, count.setSpace, count.setOrg = {}, {}, {}, {}
end
