--- Creates a barrier, in its first epoch.
--- @request write
--- @args scopeId target tail
--- @reply id
--- @include lib/call lib/id lib/plan lib/sorted barrier/_barrier scope/_scope
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
scope.check(path)

if not path then scope.create(scopeId) end
local record = { id = newId(tail), scopeId = scopeId, epoch = 1, arrivals = 0, target = tonumber(target) }
barrier.insert(record)
barrier.enter(record, 'OPEN')
sorted.add(keys.barriers(), '0', record.id)
sorted.add(keys.scopeBarriers(scopeId), '0', record.id)
emit.barrier.created(record.id, record)
return call.answer({ id = record.id }, 'operation')
