--- @include lib/cancels lib/clock lib/page lib/soon lib/sorted pool/_hold scope/_ending

--- Ends a hold of a cancelled run: one that waits is CANCELLED, or EXPIRED where its time was over before the cancel; the units
--- of a HELD one are released.
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

--- The same wherever it is; where that may let others in, be it messages that require units, they move up with the next sweep,
--- which is due at once.
function hold.unqueue(record, cancel)
  local live = keys.liveHolds(record.poolId)
  local letsIn = record.state == 'HELD' or sorted.first(live) == record.id
  hold.stop(record, cancel)
  if letsIn then soon.serve('pool:grant', record.poolId, now) end
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
