--- @record barrier
--- @include "lib/refuse"
--- @include "lib/later"
--- @include "lib/records"
--- What every transition of a barrier shares (contract section 4).

--- The record, as this run has read and changed it; without releasedAt: not released.
function barrier.read(barrierId)
  local key = keys.barrier(barrierId)
  return records.known(key) or records.keep(key, barrier.load(barrierId, 'state', 'scopeId', 'epoch', 'arrivals', 'target', 'releasedAt') or refuse('BARRIER_NOT_FOUND'))
end

--- A RELEASED or CANCELLED barrier is finished until its next epoch.
function barrier.finish(record, state)
  barrier.enter(record, state)
  records.set(record, 'state', state)
  later.enter(keys.finished(), nowText, 'barrier:barrier:' .. spaceNumber .. ':' .. record.id)
end
