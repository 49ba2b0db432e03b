--- Opens a RELEASED or CANCELLED barrier again. The keys of the epoch that is over go at once, whatever their number.
--- @args barrierId
--- @reply barrier:barrier
--- @include "lib/call"
--- @include "barrier/_barrier"
local replay = call.open()
if replay then return replay end
local record = barrier.read(barrierId)
if record.state == 'OPEN' then refuse('BARRIER_NOT_RELEASED') end
plan.needOperation()

barrier.enter(record, 'OPEN')
record.arrivals, record.releasedAt = 0, false
record.epoch = redis.call('HINCRBY', keys.barrier(barrierId), 'epoch', 1)
redis.call('HSET', keys.barrier(barrierId), 'state', 'OPEN', 'arrivals', 0)
redis.call('HDEL', keys.barrier(barrierId), 'releasedAt')
redis.call('UNLINK', keys.arrivalKeys(barrierId))
redis.call('ZREM', keys.finished(), 'barrier:barrier:' .. spaceNumber .. ':' .. barrierId)
emit.barrier.epoch_advanced(barrierId, record)
return call.done({ barrier = record })
