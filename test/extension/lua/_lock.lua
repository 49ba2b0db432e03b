--- @record lock
--- @include lib/clock lib/maps lib/records lib/timer
--- The parts that all transitions of a lock share.

--- The lock as it stands; nil if there is none. A lease that has ended counts as ended, swept or not.
function lock.read(lockId)
  local record = lock.load(lockId, 'scopeId', 'name', 'holder', 'state', 'fence', 'leaseExpiresAt')
  if record and record.state == 'HELD' and record.leaseExpiresAt <= now then record.isOver = true end
  return record
end

--- Ends a HELD lock.
function lock.finish(record, state)
  lock.enter(record, state)
  records.set(record, 'leaseExpiresAt', false)
  maps.remove(keys.lockNames(), record.name)
  timer.disarm('lock:lease', record.id)
end
