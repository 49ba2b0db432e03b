--- @include lib/clock lib/due lib/lease lib/queue lib/unit pool/_cancel pool/_hold pool/_pool pool/_queue pool/_serve
--- All of them read queues that the sweep may have changed before.
--- The queue of a pool may be served: there is more to do of a step, or the plan is to be asked again.
due['pool:grant'] = function(poolId, at, maxChanges)
  unit.write()
  if not pool.load(poolId, 'units') then return 1 end
  return math.max(1, serveHolds(poolId, at, maxChanges))
end

--- A hold has waited for as long as it wanted to.
due['pool:hold'] = function(holdId, at, maxChanges)
  unit.write()
  local poolId = queue.expire('pool:hold', holdId, at)
  return 1 + (poolId and serveHolds(poolId, at, maxChanges - 1) or 0)
end

--- The end of the earliest lease of the space; an earlier moment where that one was given up in time.
due['pool:lease'] = function(_, at, maxChanges)
  unit.write()
  local holdId, endedAt = lease.takeDue(keys.holdLeases(), at)
  local changes = 1
  if holdId then
    local record = hold.read(holdId)
    local cancel = hold.cancelOf(record)
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
