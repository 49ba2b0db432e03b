--- Takes units of the current window, or queues for them for ttlSeconds. maxPendingWaiters applies only if it queues.
--- @request write
--- @space maxPendingWaiters waiters:WAITING holds:WAITING
--- @args allowanceId scopeId units holder ttlSeconds tail
--- @reply waiter:waiter
--- @include lib/call lib/caller lib/clock lib/count lib/id lib/plan lib/queue lib/refuse lib/sorted lib/space
--- @include lib/timer allowance/_allowance allowance/_grant allowance/_waiter scope/_live scope/_scope
if holder == '' then holder = caller.needOwnName('holder') end
local maxPendingWaiters = tonumber(keyspace.record.maxPendingWaiters)
local pending = (count.ofSpace(keyspace.record, 'waiters:WAITING') or 0)
  + (count.ofSpace(keyspace.record, 'holds:WAITING') or 0)
local source = allowance.read(allowanceId, now)
units = tonumber(units)
if units > source.unitsLimit then refuse('UNITS_EXCEED_LIMIT', source.unitsLimit) end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
local possibleAt = allowance.nextMoment(source, units)
local behind = not sorted.isEmpty(keys.liveWaiters(allowanceId))
local queues = behind or possibleAt > now
if queues and pending >= maxPendingWaiters then refuse('WAITERS_FULL', maxPendingWaiters) end
scope.check(path)

path = path or scope.create(scopeId)
local record = { id = newId(tail), allowanceId = allowanceId, scopeId = scopeId, holder = holder, units = units,
  expiresAt = now + ttlSeconds * 1000, createdAt = now }
waiter.insert(record)
sorted.add(keys.scopeWaiters(scopeId), '0', record.id)
if queues then
  waiter.enter(record, 'WAITING')
  scope.addLive(path, 1)
  scope.addAlong(path, 'liveWaiters', 1)
  record.position = queue.add('allowance:waiter', allowanceId, record.id, units)
  timer.arm('allowance:waiter', record.id, record.expiresAt)
  if not behind then timer.arm('allowance:grant', allowanceId, possibleAt) end
  emit.waiter.queued(record.id, record)
else
  allowance.use(source, units)
  waiter.grant({ record }, source, now)
end
return call.answer({ waiter = record }, 'operation')
