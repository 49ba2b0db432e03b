--- @include lib/records lib/space
--- @export count countChanges
--- Counters of the current space and its organization (census, plan usage). Changes are summed here and added to the
--- two records when the invocation ends or turns to another space.
local count = {}
--- The number of counter changes of this invocation (unit.changes).
local countChanges
--- Sums by counter name, and the space that `ofSpace` belongs to.
local ofSpace, ofOrg, countedId = {}, {}, false

--- The tables are reused, so that they need not grow again. They are empty unless an invocation has failed.
function count.start()
  countChanges = 0
  for name in pairs(ofSpace) do ofSpace[name] = nil end
  for name in pairs(ofOrg) do ofOrg[name] = nil end
  countedId = false
end

--- Adds the sums to the records.
function count.collect()
  for name, change in pairs(ofSpace) do
    if change ~= 0 then records.add(keys.space(countedId), name, change) end
    ofSpace[name] = nil
  end
  for name, change in pairs(ofOrg) do
    if change ~= 0 then records.add(keys.org(), name, change) end
    ofOrg[name] = nil
  end
end

--- Prepares for another space of the invocation.
function count.enter()
  if countedId then count.collect() end
  countedId = spaceId
end

function count.space(name, change)
  if countedId ~= spaceId then count.enter() end
  countChanges = countChanges + 1
  ofSpace[name] = (ofSpace[name] or 0) + change
end

function count.org(name, change)
  countChanges = countChanges + 1
  ofOrg[name] = (ofOrg[name] or 0) + change
end

--- A counter of the organization's record, including what this invocation has added.
function count.ofOrg(record, name)
  return tonumber(record[name] or 0) + (ofOrg[name] or 0)
end

--- The sum of three counters of the space's record, including what this invocation has added.
function count.ofSpaceTogether(record, one, other, third)
  return (record[one] or 0) + (ofSpace[one] or 0) + (record[other] or 0) + (ofSpace[other] or 0)
    + (record[third] or 0) + (ofSpace[third] or 0)
end

--- A counter of the current space, which the script need not have read, including what this invocation has added.
function count.read(name)
  local record = keyspace.record
  local value = record and record[name]
  if value == nil then value = redis.call('HGET', keys.space(spaceId), name) end
  return (tonumber(value) or 0) + (countedId == spaceId and ofSpace[name] or 0)
end

--- A field of the space's record, including what this invocation has added.
function count.ofSpace(record, name)
  local value, change = record[name], ofSpace[name]
  return change and (value or 0) + change or value
end
