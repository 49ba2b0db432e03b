--- @record lock
--- @include "lib/refuse"
--- @include "lib/timer"
--- What every transition of a lock shares.

--- The lock as it stands; nil where there is none. A lease that is over is over, swept or not.
function lock.read(lockId)
  local record = lock.load(lockId, 'scopeId', 'name', 'holder', 'state', 'fence', 'leaseExpiresAt')
  if record and record.state == 'HELD' and record.leaseExpiresAt <= now then record.isOver = true end
  return record
end

--- Ends a HELD lock.
function lock.finish(record, state)
  lock.enter(record, state)
  record.leaseExpiresAt = nil
  redis.call('HSET', keys.lock(record.id), 'state', state)
  redis.call('HDEL', keys.lock(record.id), 'leaseExpiresAt')
  redis.call('HDEL', keys.lockNames(), record.name)
  timer.disarm('lock:lease:' .. spaceNumber .. ':' .. record.id)
end
