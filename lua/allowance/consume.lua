--- Uses units of the current window, at once or not at all. While anyone waits nobody else gets units.
--- @args allowanceId scopeId units holder workKey tail
--- @gather
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/scope"
--- @include "allowance/_allowance"
--- @include "allowance/_consumption"
local replay = call.open()
if replay then return replay end
local record = consumption.allowance(allowanceId)
if not record then refuse('ALLOWANCE_NOT_FOUND') end
if workKey ~= '' then
  local firstId, firstScopeId, firstUnits, endsAt, left, firstHolder = consumption.first(allowanceId, workKey)
  if firstId then
    if firstUnits ~= units then refuse('WORK_KEY_CONFLICT', 'units') end
    if firstHolder ~= holder then refuse('WORK_KEY_CONFLICT', 'holder') end
    return call.uncounted(firstId, firstScopeId, endsAt, left, 1)
  end
end
local wanted = tonumber(units)
if wanted > record.unitsLimit then refuse('UNITS_EXCEED_LIMIT', record.unitsLimit) end
plan.needOperation()
local path = scope.path(scopeId)
scope.check(path)
if record.cooldownUntil then refuse('ALLOWANCE_COOLING_DOWN', 'at=' .. record.cooldownUntil) end
if consumption.isWaitedFor(record) then refuse('ALLOWANCE_EXHAUSTED', 'waiters at=' .. record.windowEndsAt) end
if allowance.nextMoment(record, wanted) > now then refuse('ALLOWANCE_EXHAUSTED', 'units at=' .. record.windowEndsAt) end

if not path then scope.create(scopeId) end
consumption.use(record, wanted)
consumption.countIn(scopeId, wanted)
local id, availableUnits = newId(tail), record.unitsLimit - record.usedUnits
consumption.keep(id, record, scopeId, units, holder, workKey, availableUnits)
journal.append('allowance.consumed', allowanceId, scopeId, '"consumptionId":"' .. id .. '","units":' .. units
  .. ',"availableUnits":' .. availableUnits)
return call.done(id, scopeId, record.windowEndsAt, availableUnits, 0)
