--- Deletes a pool whose units nobody holds, no hold waits for and no live message requires. Its finished holds are kept
--- until retention removes them.
--- @request write
--- @args poolId
--- @reply
--- @include lib/audit lib/call lib/caller lib/maps lib/plan lib/refuse lib/sorted lib/unit pool/_pool
local record = pool.view(poolId)
if record.heldUnits > 0 then refuse('POOL_NOT_EMPTY', record.heldUnits .. ' units') end
if record.waiting > 0 then refuse('POOL_NOT_EMPTY', record.waiting .. ' holds') end
if record.requiredBy > 0 then refuse('POOL_NOT_EMPTY', record.requiredBy .. ' messages') end
plan.needOperation()

unit.delete(keys.pool(poolId), keys.poolQueue(poolId), keys.rebuiltPoolQueue(poolId))
sorted.remove(keys.pools(), poolId)
maps.remove(keys.poolNames(), record.name)
emit.pool.deleted(poolId, record)
audit('pool.deleted', caller.actor(), poolId, inSpace())
return call.answer(nil, 'operation')
