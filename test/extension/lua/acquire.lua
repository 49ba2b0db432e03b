--- Acquires a lock by its name, with a lease and a fence that grows from holder to holder.
--- @args scopeId name holder leaseSeconds tail
--- @reply lock:lock
--- @request write
--- @space maxLocks locks:HELD
--- @include lib/call lib/clock lib/count lib/id lib/maps lib/plan lib/refuse lib/sorted lib/space lib/timer lib/unit
--- @include lock/_lock scope/_scope
local maxLocks, held = keyspace.record.maxLocks, count.ofSpace(keyspace.record, 'locks:HELD')
local holderId = maps.get(keys.lockNames(), name)
if holderId then refuse('LOCK_HELD', lock.read(holderId).holder) end
plan.needOperation()
if (tonumber(held) or 0) >= (tonumber(maxLocks) or 2) then refuse('LOCKS_FULL', maxLocks) end
local path = scope.path(scopeId)
scope.check(path)

if not path then scope.create(scopeId) end
local record = { id = newId(tail), scopeId = scopeId, name = name, holder = holder,
  leaseExpiresAt = now + leaseSeconds * 1000, fence = (redis.call('GET', keys.lockFence()) or 0) + 1 }
unit.command('SET', keys.lockFence(), record.fence)
lock.insert(record)
lock.enter(record, 'HELD')
maps.put(keys.lockNames(), name, record.id)
sorted.add(keys.scopeLocks(scopeId), '0', record.id)
timer.arm('lock:lease', record.id, record.leaseExpiresAt)
emit.lock.acquired(record.id, record)
return call.answer({ lock = record }, 'operation')
