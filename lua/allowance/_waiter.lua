--- @record waiter
--- @include "lib/refuse"
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

--- Takes waiters of one allowance to a final state at the moment `at`; tell: emits it of one. Those that waited leave
--- the queue, but for their entries in its list.
function waiter.finish(waiters, state, at, tell)
  local ids, timers, finished, waited = {}, {}, {}, waiters[1].state == 'WAITING'
  local atText, field = string.format('%d', at), state == 'GRANTED' and 'grantedAt' or 'finishedAt'
  for i, record in ipairs(waiters) do
    ids[i], timers[i] = record.id, 'allowance:waiter:' .. spaceId .. ':' .. record.id
    finished[2 * i - 1], finished[2 * i] = atText, timers[i]
    redis.call('HSET', keys.waiter(record.id), 'state', state, field, atText)
    if waited then scope.addLive(scope.path(record.scopeId), -1) end
    waiter.enter(record, state)
    tell(record.id, record)
  end
  if waited then
    redis.call('ZREM', keys.liveWaiters(waiters[1].allowanceId), unpack(ids))
    redis.call('ZREM', keys.waitingWaiters(), unpack(ids))
    redis.call('ZREM', keys.timers(), unpack(timers))
  end
  redis.call('ZADD', keys.finished(), unpack(finished))
end
