--- Takes units of a pool under a lease, or queues for them for ttlSeconds (0: does not queue). maxPendingWaiters
--- applies only if it queues. leaseSeconds: see lease.seconds, by default 30.
--- @request write
--- @space maxLeaseSeconds maxPendingWaiters waiters:WAITING holds:WAITING
--- @args poolId units scopeId holder holderSession leaseSeconds ttlSeconds token tail
--- @reply hold:acquiredHold
--- @include lib/call lib/caller lib/clock lib/count lib/id lib/lease lib/plan lib/queueTimer lib/refuse lib/sorted
--- @include lib/space pool/_agents pool/_circle pool/_hold pool/_pool pool/_queue scope/_scope
if holder == '' then holder = caller.needOwnName('holder') end
local maxLeaseSeconds, maxPendingWaiters = tonumber(keyspace.record.maxLeaseSeconds),
  tonumber(keyspace.record.maxPendingWaiters)
local source = pool.read(poolId)
units, ttlSeconds = tonumber(units), tonumber(ttlSeconds)
if units > source.units then refuse('UNITS_EXCEED_LIMIT', 'pool ' .. source.units) end
local seconds = lease.seconds(leaseSeconds, 30, maxLeaseSeconds)
local path = scope.path(scopeId)
scope.needRunning(path)
local record = { id = newId(tail), poolId = poolId, scopeId = scopeId, holder = holder,
  holderSession = holderSession ~= '' and holderSession, units = units, leaseSeconds = seconds, expiresAt = now
    + ttlSeconds * 1000, token = token }
local isFree = sorted.isEmpty(keys.liveHolds(poolId)) and pool.fits(source, units)
local closed = not isFree and ttlSeconds > 0 and circle.of(record)
if closed then refuse('DEADLOCK', closed) end
plan.needOperation()
local maxAgents = agents.limit()
if maxAgents and units > maxAgents then refuse('ENTITLEMENT_EXCEEDED', 'units ' .. maxAgents) end
local hasAgents = agents.fit(units)
local queues = not (isFree and hasAgents)
if queues and ttlSeconds > 0 then
  local pending = count.ofSpace(keyspace.record, 'waiters:WAITING') or 0
  pending = pending + (count.ofSpace(keyspace.record, 'holds:WAITING') or 0)
  if pending >= maxPendingWaiters then refuse('WAITERS_FULL', maxPendingWaiters) end
elseif isFree and not hasAgents then
  refuse('CONCURRENCY_LIMITED', maxAgents)
end
scope.check(path)
if queues and ttlSeconds == 0 then
  refuse('POOL_EXHAUSTED', sorted.isEmpty(keys.liveHolds(poolId)) and 'units' or 'waiting')
end

path = path or scope.create(scopeId)
hold.insert(record)
sorted.add(keys.holds(), '0', record.id)
sorted.add(keys.poolHolds(poolId), '0', record.id)
sorted.add(keys.scopeHolds(scopeId), '0', record.id)
if queues then
  hold.queue(record, path)
  if isFree then queueTimer.askAgain('pool:agents', poolId) end
else
  record.expiresAt = false
  hold.grant(record, source, now)
end
return call.answer({ hold = hold.shown(record) }, 'operation')
