--- Acquires a lock by its name, with a lease and a fence that grows from holder to holder.
--- @args scopeId name holder leaseSeconds tail
--- @reply lock:lock
--- @include "lib/call"
--- @include "lib/id"
--- @include "scope/_scope"
--- @include "lock/_lock"
local replay, maxLocks, held = call.open('maxLocks', 'locks:HELD')
if replay then return replay end
local holderId = redis.call('HGET', keys.lockNames(), name)
if holderId then refuse('LOCK_HELD', lock.read(holderId).holder) end
plan.needOperation()
if (tonumber(held) or 0) >= (tonumber(maxLocks) or 2) then refuse('LOCKS_FULL', maxLocks) end
local path = scope.path(scopeId)
scope.check(path)

if not path then scope.create(scopeId) end
local record = { id = newId(tail), scopeId = scopeId, name = name, holder = holder, leaseExpiresAt = now + leaseSeconds * 1000,
  fence = redis.call('INCR', keys.lockFence()) }
lock.enter(record, 'HELD')
redis.call('HSET', keys.lock(record.id), 'scopeId', scopeId, 'name', name, 'holder', holder, 'state', 'HELD',
  'fence', record.fence, 'leaseExpiresAt', record.leaseExpiresAt)
redis.call('HSET', keys.lockNames(), name, record.id)
redis.call('ZADD', keys.scopeLocks(scopeId), 0, record.id)
timer.arm('lock:lease:' .. spaceNumber .. ':' .. record.id, record.leaseExpiresAt)
emit.lock.acquired(record.id, record)
return call.done({ lock = record })
