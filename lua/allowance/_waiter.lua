--- @record waiter
--- @include lib/finished lib/journal lib/queue lib/records lib/refuse lib/sorted lib/timer scope/_live scope/_scope
--- A waiter's record and its transitions: WAITING, then GRANTED, CANCELLED or EXPIRED.

--- The fields that transitions need; nil if there is no such waiter.
function waiter.read(waiterId)
  return waiter.load(waiterId, 'allowanceId', 'scopeId', 'state', 'units', 'expiresAt')
end

function waiter.whole(waiterId)
  return waiter.load(waiterId) or refuse('WAITER_NOT_FOUND')
end

--- The waiter's record; while it waits, with its position.
function waiter.view(waiterId)
  local record = waiter.whole(waiterId)
  local rank = record.state == 'WAITING' and sorted.rank(keys.liveWaiters(record.allowanceId), waiterId)
  record.position = rank and rank + 1
  return record
end

--- Moves a waiter to a final state at the time `at`. A WAITING one leaves the queue; its id in the list becomes a dead
--- entry.
--- emitter: emits its event, with the cause.
function waiter.finish(record, state, at, emitter, cause)
  if record.state == 'WAITING' then
    local path = scope.path(record.scopeId)
    scope.addLive(path, -1)
    scope.addAlong(path, 'liveWaiters', -1)
    queue.leave('allowance:waiter', record.allowanceId, record.id)
    timer.disarm('allowance:waiter', record.id)
    journal.wake(record.id)
    record.position = nil
  end
  records.set(record, state == 'GRANTED' and 'grantedAt' or 'finishedAt', at)
  waiter.enter(record, state)
  emitter(record.id, record, cause)
  finished.add('allowance:waiter', record.id, string.format('%d', at))
end

--- Expires a waiter whose time to live ended at `at`.
function waiter.expire(record, at)
  waiter.finish(record, 'EXPIRED', at, emit.waiter.expired)
end
