--- @include lib/hooks barrier/_barrier
--- What the room adds to the work of others: see lib/hooks.

inRun.barriers = {}

function inRun.barriers.index(scopeId)
  return keys.scopeBarriers(scopeId)
end

function inRun.barriers.row(id)
  return rows.barrier(barrier.read(id))
end
