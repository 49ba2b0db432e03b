--- @include lib/inRun barrier/_barrier
inRun.barriers = {}

function inRun.barriers.index(scopeId)
  return keys.scopeBarriers(scopeId)
end

function inRun.barriers.row(id)
  return rows.barrier(barrier.read(id))
end
