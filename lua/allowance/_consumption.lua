--- @include "lib/later"
--- @include "allowance/_allowance"
--- What the consumptions of a run share, each read once and written once: allowances, counters of scopes, workKeys.
local consumption = {}
--- By space and id.
local allowances, scopes

function consumption.begin()
  allowances, scopes = {}, {}
end

local function here(bySpace)
  if not bySpace[spaceId] then bySpace[spaceId] = {} end
  return bySpace[spaceId]
end

--- The allowance as it stands now; nil when there is none.
function consumption.allowance(allowanceId)
  local known = here(allowances)
  local record = known[allowanceId]
  if record then return record end
  record = allowance.read(allowanceId, now)
  known[allowanceId] = record
  if record then record.key = keys.allowance(allowanceId) end
  return record
end

--- Whether anybody waits for units of it: nobody begins to within this run.
function consumption.isWaitedFor(record)
  if record.waitedFor == nil then record.waitedFor = redis.call('EXISTS', keys.liveWaiters(record.id)) == 1 end
  return record.waitedFor
end

function consumption.use(record, units)
  allowance.use(record, units)
  if not record.isCounted then later.set(record.key, 'windowStartedAt', string.format('%d', record.windowStartedAt)) end
  later.set(record.key, 'usedUnits', string.format('%d', record.usedUnits))
end

--- Counts a consumption in the record of its scope.
function consumption.countIn(scopeId, units)
  local known = here(scopes)
  local sums = known[scopeId]
  if not sums then
    local key = keys.scope(scopeId)
    local values = redis.call('HMGET', key, 'consumptions', 'consumedUnits')
    sums = { key = key, consumptions = values[1] or 0, units = values[2] or 0 }
    known[scopeId] = sums
  end
  sums.consumptions, sums.units = sums.consumptions + 1, sums.units + units
  later.set(sums.key, 'consumptions', string.format('%d', sums.consumptions), 'consumedUnits', string.format('%d', sums.units))
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
