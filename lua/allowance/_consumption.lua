--- @record consumption
--- @include "lib/later"
--- @include "lib/records"
--- @include "scope/_scope"
--- @include "allowance/_allowance"
--- What consumptions do to the records of their allowance and scope, and what is kept of each.

--- The allowance as it stands now.
function consumption.allowance(allowanceId)
  local key = keys.allowance(allowanceId)
  return records.known(key) or records.keep(key, allowance.read(allowanceId, now))
end

--- Whether anybody waits for units of it: nobody begins to within this run.
function consumption.isWaitedFor(record)
  if record.waitedFor == nil then record.waitedFor = redis.call('EXISTS', keys.liveWaiters(record.id)) == 1 end
  return record.waitedFor
end

function consumption.use(record, units)
  if not record.isCounted then records.set(record, 'windowStartedAt', record.windowStartedAt) end
  records.set(record, 'usedUnits', record.usedUnits + units)
end

--- Counts a consumption in the record of its scope, which is there.
function consumption.countIn(scopeId, units)
  local record = scope.read(scopeId)
  if not record.consumptions then
    local counted = scope.load(scopeId, 'consumptions', 'consumedUnits')
    record.consumptions, record.consumedUnits = counted.consumptions, counted.consumedUnits
  end
  records.set(record, 'consumptions', record.consumptions + 1)
  records.set(record, 'consumedUnits', record.consumedUnits + units)
end

--- Keeps the entry among what is finished that says all that the consumption's end needs.
function consumption.finish(id, allowanceId, scopeId, units, workKey)
  local entry = 'allowance:consumption:' .. spaceNumber .. ':' .. id .. ' ' .. allowanceId .. ' ' .. scopeId .. ' ' .. units
  later.enter(keys.finished(), nowText, workKey == '' and entry or entry .. ' ' .. workKey)
end

--- What such an entry says behind the space's id.
function consumption.ended(entry)
  local allowanceId, scopeId, units, workKey = string.match(entry, '^%S+ (%S+) (%S+) (%d+) ?(.*)$')
  return { allowanceId = allowanceId, scopeId = scopeId, units = units, workKey = workKey }
end

--- Keeps under its workKey what a repetition is answered.
function consumption.keep(id, allowanceId, scopeId, units, workKey, windowEndsAt, availableUnits, holder)
  local first = id .. ' ' .. scopeId .. ' ' .. units .. ' ' .. windowEndsAt .. ' ' .. availableUnits .. ' ' .. holder
  later.set(keys.consumptionKeys(allowanceId), workKey, first)
end

--- The one that was made with this workKey; nil when there is none.
function consumption.first(allowanceId, workKey)
  local first = later.get(keys.consumptionKeys(allowanceId), workKey)
  if not first then return nil end
  local id, scopeId, units, windowEndsAt, availableUnits, holder = string.match(first, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return { id = id, scopeId = scopeId, units = units, windowEndsAt = windowEndsAt, availableUnits = availableUnits, holder = holder }
end
