--- @record pool
--- @include lib/records lib/refuse lib/sorted pool/_fence
--- A pool and its units. Whatever holds units of it, holds or claims, takes and gives them here.

--- With the fields that units depend on.
function pool.read(poolId)
  return pool.load(poolId, 'units', 'heldUnits') or refuse('POOL_NOT_FOUND')
end

--- The whole pool.
function pool.view(poolId)
  local record = pool.load(poolId) or refuse('POOL_NOT_FOUND')
  record.waiting = sorted.count(keys.liveHolds(poolId))
  return record
end

--- Whether so many units are free. After the pool was made smaller more may be held than it has.
function pool.fits(record, units)
  return record.heldUnits + units <= record.units
end

--- Takes units; returns the fence of whoever has them from now on.
function pool.take(record, units)
  records.set(record, 'heldUnits', record.heldUnits + units)
  return fence.next()
end

function pool.give(record, units)
  records.set(record, 'heldUnits', record.heldUnits - units)
end
