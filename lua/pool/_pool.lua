--- @record pool
--- @include lib/records lib/refuse lib/sorted pool/_fence
--- A pool and its units. Both holds and claims take and return units here.

--- A pool with the fields that its units depend on.
function pool.read(poolId)
  return pool.load(poolId, 'units', 'heldUnits') or refuse('POOL_NOT_FOUND')
end

function pool.view(poolId)
  local record = pool.load(poolId) or refuse('POOL_NOT_FOUND')
  record.waiting = sorted.count(keys.liveHolds(poolId))
  return record
end

--- Whether this many units are free. A pool that was made smaller may have more units held than it has.
function pool.fits(record, units)
  return record.heldUnits + units <= record.units
end

--- Takes units. Returns the fence of their new holder.
function pool.take(record, units)
  records.set(record, 'heldUnits', record.heldUnits + units)
  return fence.next()
end

function pool.give(record, units)
  records.set(record, 'heldUnits', record.heldUnits - units)
end
