--- Uses units of the current window, at once or not at all. While anyone waits nobody else gets units.
--- @args allowanceId scopeId units holder workKey tail
--- @gather
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/scope"
--- @include "allowance/_allowance"
local replay = call.open()
if replay then return replay end
local record = allowance.read(allowanceId, now)
if not record then refuse('ALLOWANCE_NOT_FOUND') end
local firstId = workKey ~= '' and redis.call('HGET', keys.consumptionKeys(allowanceId), workKey)
if firstId then
  local first = redis.call('HMGET', keys.consumption(firstId), 'units', 'holder', 'scopeId', 'windowEndsAt', 'availableUnits', 'createdAt')
  if first[1] ~= units then refuse('WORK_KEY_CONFLICT', 'units') end
  if first[2] ~= holder then refuse('WORK_KEY_CONFLICT', 'holder') end
  return call.uncounted(firstId, first[3], first[4], first[5], first[6], 1)
end
if tonumber(units) > record.unitsLimit then refuse('UNITS_EXCEED_LIMIT', record.unitsLimit) end
call.needOperation()
local path = scope.path(scopeId)
scope.check(path)
if record.cooldownUntil then refuse('ALLOWANCE_COOLING_DOWN', 'at=' .. record.cooldownUntil) end
if redis.call('EXISTS', keys.liveWaiters(allowanceId)) == 1 then refuse('ALLOWANCE_EXHAUSTED', 'waiters at=' .. record.windowEndsAt) end
if allowance.nextMoment(record, tonumber(units)) > now then refuse('ALLOWANCE_EXHAUSTED', 'units at=' .. record.windowEndsAt) end

if not path then scope.create(scopeId) end
allowance.use(record, tonumber(units))
allowance.save(record)
local consumptionId = newId(tail)
local availableUnits = record.unitsLimit - record.usedUnits
redis.call('HSET', keys.consumption(consumptionId), 'allowanceId', allowanceId, 'scopeId', scopeId, 'holder', holder, 'units', units,
  'workKey', workKey, 'windowEndsAt', record.windowEndsAt, 'availableUnits', availableUnits, 'createdAt', now)
if workKey ~= '' then redis.call('HSET', keys.consumptionKeys(allowanceId), workKey, consumptionId) end
redis.call('HINCRBY', keys.scope(scopeId), 'consumptions', 1)
redis.call('HINCRBY', keys.scope(scopeId), 'consumedUnits', units)
redis.call('ZADD', keys.finished(), now, 'allowance:consumption:' .. spaceId .. ':' .. consumptionId)
journal.append('allowance.consumed', allowanceId, scopeId, '"consumptionId":"' .. consumptionId .. '","units":' .. units
  .. ',"availableUnits":' .. availableUnits)
return call.done(consumptionId, scopeId, record.windowEndsAt, availableUnits, now, 0)
