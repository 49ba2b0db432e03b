--- @record barrier
--- @include lib/clock lib/finished lib/journal lib/refuse
--- Barriers: their record and their transitions.

function barrier.read(barrierId)
  return barrier.load(barrierId, 'state', 'scopeId', 'epoch', 'arrivals', 'target', 'releasedAt')
    or refuse('BARRIER_NOT_FOUND')
end

--- Moves a barrier to RELEASED or CANCELLED. It is then finished until its next epoch.
function barrier.finish(record, state)
  barrier.enter(record, state)
  finished.add('barrier:barrier', record.id, nowText)
  journal.wake(record.id)
end
