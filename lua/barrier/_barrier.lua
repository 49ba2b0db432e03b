--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- What every transition of a barrier shares (contract section 4).
local barrier = {}
local fieldsOfBarrier = { 'scopeId', 'state', 'epoch', 'arrivals', 'target', 'createdAt', 'releasedAt' }

--- The record by field names; a releasedAt of false: not released.
function barrier.read(barrierId)
  local record = { id = barrierId }
  for i, value in ipairs(redis.call('HMGET', keys.barrier(barrierId), unpack(fieldsOfBarrier))) do
    record[fieldsOfBarrier[i]] = value
  end
  if not record.state then refuse('BARRIER_NOT_FOUND') end
  return record
end

--- Its fields in the order of the answers, as separate values.
function barrier.values(record)
  return record.scopeId, record.state, record.epoch, record.arrivals, record.target, record.createdAt, record.releasedAt
end

--- Counts the step from record.state (nil: it is new) to `state`, and puts the record there.
function barrier.enter(record, state)
  if record.state then count.add(count.space, 'barriers:' .. record.state, -1) end
  count.add(count.space, 'barriers:' .. state, 1)
  record.state = state
end

--- A RELEASED or CANCELLED barrier is finished until its next epoch.
function barrier.finish(record, state)
  barrier.enter(record, state)
  redis.call('HSET', keys.barrier(record.id), 'state', state)
  redis.call('ZADD', keys.finished(), nowText, 'barrier:barrier:' .. spaceId .. ':' .. record.id)
end

--- Appends `barrier.<what>` for what the record is now.
function barrier.tell(record, what)
  journal.append('barrier.' .. what, record.id, record.scopeId, '"state":"' .. record.state .. '","epoch":' .. record.epoch
    .. ',"arrivals":' .. record.arrivals .. ',"target":' .. record.target)
end
