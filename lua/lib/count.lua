--- @include "lib/space"
--- @include "lib/records"
--- Counters of the space at hand and of its organization (the census, plan usage). Their changes are summed up here, and
--- go to the two records when the run is over, or goes on to another space.
local count = {}
--- By name; and the space that they are of.
local ofSpace, ofOrg, countedId

function count.begin()
  ofSpace, ofOrg, countedId = {}, {}, false
end

--- Adds the sums to the records.
local function collect()
  local atHand = spaceId
  spaceId = countedId
  for name, change in pairs(ofSpace) do
    if change ~= 0 then records.add(keys.space(), name, change) end
    ofSpace[name] = nil
  end
  spaceId = atHand
  for name, change in pairs(ofOrg) do
    if change ~= 0 then records.add(keys.org(), name, change) end
    ofOrg[name] = nil
  end
end

--- The run goes on to another space.
function count.enter()
  if countedId then collect() end
  countedId = spaceId
end

function count.space(name, change)
  if countedId ~= spaceId then count.enter() end
  changes, collecting = changes + 1, collect
  ofSpace[name] = (ofSpace[name] or 0) + change
end

function count.org(name, change)
  changes, collecting = changes + 1, collect
  ofOrg[name] = (ofOrg[name] or 0) + change
end

--- A counter of the organization, by what its record says and this run has added.
function count.ofOrg(record, name)
  return tonumber(record[name] or 0) + (ofOrg[name] or 0)
end

--- A field of the space's record, with what this run has added.
function count.ofSpace(record, name)
  local value, change = record[name], ofSpace[name]
  return change and (value or 0) + change or value
end
