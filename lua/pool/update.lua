--- Renames a pool or changes its units; '' leaves a field as it is. Holds that now fit are granted in the same step.
--- Refuses fewer units than any hold waits for, as that hold could never be granted; holds of cancelled runs that want
--- more are ended first. detail: for the audit trail.
--- @request write
--- @args poolId name units detail
--- @reply pool:pool
--- @include lib/audit lib/call lib/caller lib/clock lib/maps lib/plan lib/queue lib/records lib/refuse pool/_pool
--- @include pool/_queue pool/_serve
local record = pool.view(poolId)
local newName = name ~= '' and name ~= record.name and name
local newUnits = units ~= '' and tonumber(units) ~= record.units and tonumber(units)
if not newName and not newUnits then return call.answer({ pool = record }) end
if newName and maps.get(keys.poolNames(), newName) then refuse('POOL_EXISTS') end
if newUnits and newUnits < record.units then
  local least = queue.above('pool:hold', poolId, units)
  if least then refuse('LIMIT_BELOW_USE', 'units ' .. string.format('%d', least)) end
end
plan.needOperation()

if newName then
  maps.remove(keys.poolNames(), record.name)
  maps.put(keys.poolNames(), newName, poolId)
  records.set(record, 'name', newName)
end
local isMore = newUnits and newUnits > record.units
if newUnits then records.set(record, 'units', newUnits) end
emit.pool.updated(poolId, record)
audit('pool.updated', caller.actor(), poolId, detail)
if isMore then serveHolds(poolId, now, 100) end
return call.answer({ pool = pool.view(poolId) }, 'operation')
