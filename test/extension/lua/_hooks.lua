--- @include lib/hooks lock/_lock
inRun.locks = {}

function inRun.locks.index(scopeId)
  return keys.scopeLocks(scopeId)
end

function inRun.locks.row(id)
  return rows.lock(lock.read(id))
end
