--- @include "lib/refuse"
--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/later"
--- @include "lib/records"
--- What every transition of a barrier shares (contract section 4).
local barrier = {}

--- The record by field names; without releasedAt: not released.
function barrier.read(barrierId)
  local key = keys.barrier(barrierId)
  local record = records.known(key)
  if record then return record end
  record = records.load(key)
  if not record then refuse('BARRIER_NOT_FOUND') end
  record.id = barrierId
  return records.keep(key, record)
end

--- Its fields in the order of the answers, as separate values.
function barrier.values(record)
  return record.scopeId, record.state, record.epoch, record.arrivals, record.target, record.releasedAt or false
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
  records.set(record, 'state', state)
  later.enter(keys.finished(), nowText, 'barrier:barrier:' .. spaceId .. ':' .. record.id)
end

--- Appends `barrier.<what>` for what the record is now.
function barrier.tell(record, what)
  journal.append('barrier.' .. what, record.id, record.scopeId, '"state":"' .. record.state .. '","epoch":' .. record.epoch
    .. ',"arrivals":' .. record.arrivals .. ',"target":' .. record.target)
end
