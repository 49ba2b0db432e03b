--- @include "lib/later"
--- @include "lib/records"
--- @include "lib/scope"
--- @include "allowance/_allowance"
--- What consumptions do to the records of their allowance and scope, and what is kept of each.
local consumption = {}

--- The allowance as it stands now; nil when there is none.
function consumption.allowance(allowanceId)
  local key = keys.allowance(allowanceId)
  local record = records.known(key)
  if record then return record end
  record = allowance.read(allowanceId, now)
  return record and records.keep(key, record)
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
    local values = redis.call('HMGET', record.key, 'consumptions', 'consumedUnits')
    record.consumptions, record.consumedUnits = tonumber(values[1]) or 0, tonumber(values[2]) or 0
  end
  records.set(record, 'consumptions', record.consumptions + 1)
  records.set(record, 'consumedUnits', record.consumedUnits + units)
end

--- Keeps a consumption: its entry among what is finished says all that its end needs, its workKey's what a repetition is
--- answered.
function consumption.keep(id, record, scopeId, units, holder, workKey, availableUnits)
  local own = id .. ' ' .. record.id .. ' ' .. scopeId .. ' ' .. units
  if workKey ~= '' then
    local first = id .. ' ' .. scopeId .. ' ' .. units .. ' ' .. record.windowEndsAt .. ' ' .. availableUnits .. ' ' .. holder
    later.set(keys.consumptionKeys(record.id), workKey, first)
    own = own .. ' ' .. workKey
  end
  later.enter(keys.finished(), nowText, 'allowance:consumption:' .. spaceId .. ':' .. own)
end

--- Id, scopeId, units, windowEndsAt, availableUnits and holder of the one made with this workKey; nil when there is none.
function consumption.first(allowanceId, workKey)
  local first = later.get(keys.consumptionKeys(allowanceId), workKey)
  if first then return string.match(first, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$') end
end
