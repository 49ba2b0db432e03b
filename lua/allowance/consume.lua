--- Consumes units of the current window, all or nothing. Refuses while anyone waits for units.
--- @request write
--- @args allowanceId scopeId units holder workKey tail
--- @reply id scopeId windowEndsAt availableUnits replay holder?
--- @gather
--- @include lib/call lib/caller lib/clock lib/id lib/plan lib/refuse allowance/_allowance allowance/_consumption
--- @include scope/_scope
local ownName = holder == '' and caller.needOwnName('holder') or nil
holder = ownName or holder
local record = allowance.read(allowanceId, now)
if workKey ~= '' then
  local first = consumption.first(allowanceId, workKey)
  if first then
    if first.units ~= units then refuse('WORK_KEY_CONFLICT', 'units') end
    if first.holder ~= holder then refuse('WORK_KEY_CONFLICT', 'holder') end
    return call.answer({ id = first.id, scopeId = first.scopeId, windowEndsAt = first.windowEndsAt,
      availableUnits = first.availableUnits, replay = true, holder = ownName }, 'syscall')
  end
end
local wanted = tonumber(units)
if wanted > record.unitsLimit then refuse('UNITS_EXCEED_LIMIT', record.unitsLimit) end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
scope.check(path)
if record.cooldownUntil then refuse('ALLOWANCE_COOLING_DOWN', 'at=' .. record.cooldownUntil) end
if consumption.isWaitedFor(record) then refuse('ALLOWANCE_EXHAUSTED', 'waiters at=' .. record.windowEndsAt) end
if allowance.nextMoment(record, wanted) > now then refuse('ALLOWANCE_EXHAUSTED', 'units at=' .. record.windowEndsAt) end

if not path then scope.create(scopeId) end
local id = newId(tail)
local availableUnits = consumption.make(id, record, scopeId, units, workKey)
if workKey ~= '' then
  consumption.store(id, allowanceId, scopeId, units, workKey, record.windowEndsAt, availableUnits, holder)
end
return call.answer({ id = id, scopeId = scopeId, windowEndsAt = record.windowEndsAt, availableUnits = availableUnits,
  holder = ownName }, 'operation')
