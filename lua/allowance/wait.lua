--- Takes units of the current window, or queues for them until ttlSeconds have passed. Only who queues can find the
--- space's waiters full.
--- @args allowanceId scopeId units holder ttlSeconds tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/scope"
--- @include "lib/timer"
--- @include "allowance/_allowance"
--- @include "allowance/_queue"
--- @include "allowance/_grant"
--- @include "allowance/_waiter"
local replay, maxPendingWaiters, waiting = call.open('maxPendingWaiters', 'waiters:WAITING')
if replay then return replay end
local record = allowance.read(allowanceId, now)
if not record then refuse('ALLOWANCE_NOT_FOUND') end
if tonumber(units) > record.unitsLimit then refuse('UNITS_EXCEED_LIMIT', record.unitsLimit) end
plan.needOperation()
local possibleAt = allowance.nextMoment(record, tonumber(units))
local behind = redis.call('EXISTS', keys.liveWaiters(allowanceId)) == 1
local queues = behind or possibleAt > now
if queues and (tonumber(waiting) or 0) >= tonumber(maxPendingWaiters) then refuse('WAITERS_FULL', maxPendingWaiters) end
local path = scope.path(scopeId)
scope.check(path)

path = path or scope.create(scopeId)
local waiterId, expiresAt, position = newId(tail), now + ttlSeconds * 1000, false
redis.call('HSET', keys.waiter(waiterId), 'allowanceId', allowanceId, 'scopeId', scopeId, 'holder', holder, 'units', units,
  'state', 'WAITING', 'expiresAt', expiresAt, 'createdAt', now)
redis.call('ZADD', keys.scopeWaiters(scopeId), 0, waiterId)
local head = { id = waiterId, allowanceId = allowanceId, scopeId = scopeId, units = tonumber(units) }
if queues then
  head.state = 'WAITING'
  count.add(count.space, 'waiters:WAITING', 1)
  scope.addLive(path, 1)
  position = queue.add(allowanceId, waiterId)
  timer.arm('allowance:waiter:' .. spaceId .. ':' .. waiterId, expiresAt)
  if not behind then timer.arm('allowance:grant:' .. spaceId .. ':' .. allowanceId, possibleAt) end
  waiter.tell(head, 'queued')
else
  allowance.use(record, head.units)
  waiter.grant({ head }, record, now)
end
return call.done(waiterId, head.state, position, expiresAt, not queues and now, now)
