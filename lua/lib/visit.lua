--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/usage"
--- @include "lib/rates"
--- A run of several requests goes from space to space: the record of each is read once, and what was gathered for it
--- is written when the run goes on to the next.
local visit = {}
--- The space that has been read, and whether for an earlier request; what was asked for of its record.
local here, again, names, values

function visit.begin()
  here = nil
end

local function leave()
  local nextSpaceId = spaceId
  spaceId = here
  count.writeSpace()
  journal.publish()
  spaceId = nextSpaceId
end

--- Reads the named fields of the space's record. A malformed spaceId arrives empty and finds no space; Node says what
--- is wrong with it once the caller is known.
function visit.enter(...)
  again = here == spaceId
  if again then return end
  if here then leave() end
  values = redis.call('HMGET', keys.space(), 'requestsPerMinute', 'requestsMinute', 'usedRequests', 'usageDay', 'number', ...)
  here, names = spaceId, { ... }
  keyspace.enter(values[5])
  count.know('space', names, values, 5)
  rates.ofSpace(values[1], values[2], values[3])
  usage.day = values[4]
end

--- The named fields, from the `first` on, as they are now: what earlier requests of the run gathered is not in the
--- record yet.
function visit.asked(first)
  local amount = #names
  if not again then return unpack(values, 5 + first, 5 + amount) end
  local current, changes, set = {}, count.space, count.setSpace
  for i = first, amount do
    local name, value = names[i], values[5 + i]
    local change = changes[name]
    current[i] = set[name] or change and (value or 0) + change or value
  end
  return unpack(current, first, amount)
end

--- Back to the space that was read last: the last request of a run may have been refused before its own was.
function visit.back()
  spaceId = here or spaceId
end
