--- @include lib/clock lib/hooks lib/lease lib/queue lib/unit pool/_cancel pool/_hold pool/_pool pool/_queue
--- @include pool/_serve scope/_scope
--- All handlers read queues, which the sweep may have changed before, so the changes are written first.

--- The queue of a pool may be served: a step has left work.
due['pool:grant'] = function(poolId, at, maxChanges)
  unit.write()
  if not pool.load(poolId, 'units') then return 1 end
  return math.max(1, serveHolds(poolId, at, maxChanges))
end

--- Checks the plan's agents again. Nobody knows when they became free, so a grant begins now, not at the timer's
--- moment.
due['pool:agents'] = function(poolId, _, maxChanges)
  return due['pool:grant'](poolId, now, maxChanges)
end

--- The time to live of a waiting hold has ended.
due['pool:hold'] = function(holdId, at, maxChanges)
  unit.write()
  local poolId = queue.expire('pool:hold', holdId, at)
  return 1 + (poolId and serveHolds(poolId, at, maxChanges - 1) or 0)
end

--- The earliest lease of the space ends, unless its hold ended before.
due['pool:lease'] = function(_, at, maxChanges)
  unit.write()
  local holdId, endedAt = lease.takeDue(keys.holdLeases(), at)
  local changes = 1
  if holdId then
    local record = hold.read(holdId)
    local cancel = scope.cancelFor(record)
    if cancel then
      hold.unqueue(record, cancel)
    else
      hold.finish(record, 'LAPSED', endedAt, emit.hold.lapsed)
      changes = changes + serveHolds(record.poolId, endedAt, maxChanges - 1)
    end
  end
  lease.rearm('pool:lease', keys.holdLeases())
  return changes
end
