--- Creates a pool; its name is unique in the space. unique '1': if the name is taken, replies with that pool instead.
--- detail: for the audit trail.
--- @request write
--- @args name units unique tail detail
--- @reply known pool:pool
--- @include lib/audit lib/call lib/caller lib/clock lib/id lib/maps lib/plan lib/refuse lib/sorted pool/_pool
local known = maps.get(keys.poolNames(), name)
if known and unique == '1' then return call.answer({ known = 1, pool = pool.view(known) }) end
if known then refuse('POOL_EXISTS') end
plan.needOperation()

local poolId = newId(tail)
pool.insert({ id = poolId, name = name, units = tonumber(units), heldUnits = 0, createdAt = now })
sorted.add(keys.pools(), '0', poolId)
maps.put(keys.poolNames(), name, poolId)
local record = pool.view(poolId)
emit.pool.created(poolId, record)
audit('pool.created', caller.actor(), poolId, detail)
return call.answer({ pool = record }, 'operation')
