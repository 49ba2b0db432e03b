--- @record waiter
--- @include "lib/refuse"
--- @include "lib/timer"
--- @include "lib/finished"
--- @include "lib/journal"
--- @include "scope/_scope"
--- A waiter's record and its transitions (contract section 4): WAITING, then GRANTED, CANCELLED or EXPIRED.

--- What its transitions look at; nil where there is none.
function waiter.read(waiterId)
  return waiter.load(waiterId, 'allowanceId', 'scopeId', 'state', 'units', 'expiresAt')
end

--- All of it, with its position while it waits.
function waiter.view(waiterId)
  local record = waiter.load(waiterId) or refuse('WAITER_NOT_FOUND')
  local rank = record.state == 'WAITING' and redis.call('ZRANK', keys.liveWaiters(record.allowanceId), waiterId)
  record.position = rank and rank + 1
  return record
end

--- Takes a waiter to a final state at the moment `at`; tell: emits it. One that waited leaves the queue, but for its
--- entry in the list.
function waiter.finish(record, state, at, tell)
  if record.state == 'WAITING' then
    scope.addLive(scope.path(record.scopeId), -1)
    sorted.remove(keys.liveWaiters(record.allowanceId), record.id)
    sorted.remove(keys.waitingWaiters(), record.id)
    sorted.remove(keys.waiterUnits(record.allowanceId), record.id)
    timer.disarm('allowance:waiter', record.id)
    journal.wake(record.id)
  end
  records.set(record, state == 'GRANTED' and 'grantedAt' or 'finishedAt', at)
  waiter.enter(record, state)
  tell(record.id, record)
  finished.add('allowance:waiter', record.id, string.format('%d', at))
end
