--- @include "lib/later"
--- @include "allowance/_allowance"
--- What the consumptions of a run share, each read once and written once: allowances, counters of scopes, workKeys.
local consumption = {}
--- By key; `made`: the texts of this run's own consumptions, by hash and field.
local allowances, scopes, made

function consumption.begin()
  allowances, scopes, made = {}, {}, {}
end

--- The allowance as it stands now; nil when there is none.
function consumption.allowance(allowanceId)
  local key = keys.allowance(allowanceId)
  local record = allowances[key] or allowance.read(allowanceId, now)
  allowances[key] = record
  return record
end

--- Whether anybody waits for units of it: nobody begins to within this run.
function consumption.isWaitedFor(record)
  if record.waitedFor == nil then record.waitedFor = redis.call('EXISTS', keys.liveWaiters(record.id)) == 1 end
  return record.waitedFor
end

function consumption.use(record, units)
  allowance.use(record, units)
  local key = keys.allowance(record.id)
  if not record.isCounted then later.set(key, 'windowStartedAt', string.format('%d', record.windowStartedAt)) end
  later.set(key, 'usedUnits', string.format('%d', record.usedUnits))
end

--- Counts a consumption in the record of its scope.
function consumption.countIn(scopeId, units)
  local key = keys.scope(scopeId)
  local sums = scopes[key]
  if not sums then
    sums = redis.call('HMGET', key, 'consumptions', 'consumedUnits')
    sums[1], sums[2] = sums[1] or 0, sums[2] or 0
    scopes[key] = sums
  end
  sums[1], sums[2] = sums[1] + 1, sums[2] + units
  later.set(key, 'consumptions', string.format('%d', sums[1]))
  later.set(key, 'consumedUnits', string.format('%d', sums[2]))
end

local function keep(key, field, text)
  made[key .. ' ' .. field] = text
  later.set(key, field, text)
end

local function kept(key, field)
  return made[key .. ' ' .. field] or redis.call('HGET', key, field)
end

--- Keeps a consumption; one with a workKey with what a repetition is answered.
function consumption.keep(id, record, scopeId, units, holder, workKey, availableUnits)
  local text = record.id .. ' ' .. scopeId .. ' ' .. units
  if workKey ~= '' then
    keep(keys.consumptionKeys(record.id), workKey, id .. ' ' .. holder)
    text = text .. ' ' .. record.windowEndsAt .. ' ' .. availableUnits .. ' ' .. workKey
  end
  keep(keys.consumptions(), id, text)
  later.enter(keys.finished(), nowText, 'allowance:consumption:' .. spaceId .. ':' .. id)
end

--- Id, holder, scopeId, units, windowEndsAt and availableUnits of the one made with this workKey; nil when there is none.
function consumption.first(allowanceId, workKey)
  local known = kept(keys.consumptionKeys(allowanceId), workKey)
  if not known then return nil end
  local id, holder = string.match(known, '^(%S+) (.*)$')
  local text = kept(keys.consumptions(), id)
  return id, holder, string.match(text, '^%S+ (%S+) (%S+) (%S+) (%S+)')
end
