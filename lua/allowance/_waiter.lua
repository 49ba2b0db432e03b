--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/scope"
--- A waiter's record and its transitions (contract section 4): WAITING, then GRANTED, CANCELLED or EXPIRED.
local waiter = {}

function waiter.read(waiterId)
  local values = redis.call('HMGET', keys.waiter(waiterId), 'allowanceId', 'scopeId', 'state', 'units', 'expiresAt')
  if not values[1] then return nil end
  return { id = waiterId, allowanceId = values[1], scopeId = values[2], state = values[3], units = tonumber(values[4]),
    expiresAt = tonumber(values[5]) }
end

--- What the waiter's view and its cancel answer.
function waiter.view(waiterId)
  local values = redis.call('HMGET', keys.waiter(waiterId), 'allowanceId', 'scopeId', 'holder', 'units', 'state', 'expiresAt',
    'grantedAt', 'createdAt')
  local rank = values[5] == 'WAITING' and redis.call('ZRANK', keys.liveWaiters(values[1]), waiterId)
  values[#values + 1] = rank and rank + 1
  return values
end

function waiter.tell(record, what)
  journal.append('waiter.' .. what, record.id, record.scopeId,
    '"allowanceId":"' .. record.allowanceId .. '","units":' .. record.units .. ',"state":"' .. record.state .. '"')
end

--- Takes waiters of one allowance to a final state at the moment `at`; `what` names the event. Those that waited leave
--- the queue, but for their entries in its list.
function waiter.finish(records, state, at, what)
  local ids, timers, finished, waited = {}, {}, {}, records[1].state == 'WAITING'
  local atText, field = string.format('%d', at), state == 'GRANTED' and 'grantedAt' or 'finishedAt'
  for i, record in ipairs(records) do
    ids[i], timers[i] = record.id, 'allowance:waiter:' .. spaceId .. ':' .. record.id
    finished[2 * i - 1], finished[2 * i] = atText, timers[i]
    redis.call('HSET', keys.waiter(record.id), 'state', state, field, atText)
    if waited then scope.addLive(scope.path(record.scopeId), -1) end
    record.state = state
    waiter.tell(record, what)
  end
  if waited then
    count.add(count.space, 'waiters:WAITING', -#ids)
    redis.call('ZREM', keys.liveWaiters(records[1].allowanceId), unpack(ids))
    redis.call('ZREM', keys.waitingWaiters(), unpack(ids))
    redis.call('ZREM', keys.timers(), unpack(timers))
  end
  count.add(count.space, 'waiters:' .. state, #ids)
  redis.call('ZADD', keys.finished(), unpack(finished))
end
