--- @record pool
--- @export fence
--- @include lib/clock lib/records lib/refuse lib/sorted lib/space space/_space
--- Fences: whole numbers that only grow. One counter serves the whole space, so a pool created again under an old name
--- continues from earlier fences. They also grow with the clock, in microseconds. So they keep growing after a restore
--- or a lost second of the log, which may set the counter back, but not the time.
local fence = {}

function fence.next()
  local record = space.load(spaceId, 'lastFence')
  -- `fraction` is in 1/4096 of a millisecond.
  local micros = now * 1000 + math.floor(fraction / 4.096)
  records.set(record, 'lastFence', math.max(record.lastFence + 1, micros))
  return record.lastFence
end

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
