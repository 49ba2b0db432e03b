--- @include lib/clock lib/hooks lib/page lib/queueTimer lib/sorted pool/_hold scope/_ending

--- Ends a hold of a cancelled run. A WAITING one is CANCELLED, or EXPIRED if its time was up before the cancel; a HELD
--- one is RELEASED.
function hold.stop(record, cancel)
  if record.state == 'HELD' then
    record.forced = false
    hold.finish(record, 'RELEASED', now, emit.hold.released, ending.count(cancel, 'cancelledHolds'))
  elseif record.expiresAt <= cancel.cancelledAt then
    hold.expire(record, record.expiresAt)
  else
    hold.finish(record, 'CANCELLED', now, emit.hold.cancelled, ending.count(cancel, 'cancelledHolds'))
  end
end

--- Stops a hold in any state. If that may free units for others, including messages that require them, the next sweep,
--- which is due at once, serves them.
function hold.unqueue(record, cancel)
  local live = keys.liveHolds(record.poolId)
  local letsIn = record.state == 'HELD' or sorted.first(live) == record.id
  hold.stop(record, cancel)
  if letsIn then queueTimer.serve('pool:grant', record.poolId, now) end
end

cancels.holds = { total = 'cancelledHolds' }

function cancels.holds.ids(scopeId, last, maxRecords)
  return idsBefore(keys.scopeHolds(scopeId), last, maxRecords)
end

function cancels.holds.stop(id, cancel)
  local record = hold.read(id)
  if record.state ~= 'WAITING' and record.state ~= 'HELD' then return 0 end
  hold.unqueue(record, cancel)
  return 1
end
