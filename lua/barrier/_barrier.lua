--- @record barrier
--- @include "lib/refuse"
--- @include "lib/finished"
--- @include "lib/journal"
--- What every transition of a barrier shares (contract section 4).

--- The record; without releasedAt: not released.
function barrier.read(barrierId)
  return barrier.load(barrierId, 'state', 'scopeId', 'epoch', 'arrivals', 'target', 'releasedAt') or refuse('BARRIER_NOT_FOUND')
end

--- A RELEASED or CANCELLED barrier is finished until its next epoch.
function barrier.finish(record, state)
  barrier.enter(record, state)
  finished.add('barrier:barrier', record.id, nowText)
  journal.wake(record.id)
end
