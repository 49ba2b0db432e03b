--- @include lib/count lib/hooks lib/journal lib/records scope/_scope
--- The live work of scopes.

--- Adds to the live work of a scope and its ancestors.
function scope.addLive(path, change)
  for depth = 1, #path do
    local record = scope.at(path, depth)
    local live = record.live + change
    records.set(record, 'live', live)
    local woke, slept = change > 0 and live == change, change < 0 and live == 0
    if woke or slept then
      if not record.cancelledAt then
        scope.enter({ state = woke and 'IDLE' or 'ACTIVE' }, woke and 'ACTIVE' or 'IDLE')
      end
      if depth == 1 then count.org('usedRuns', woke and 1 or -1) end
      -- Wakes waits for the end of all live work in a scope.
      if slept then
        journal.wake(path[depth])
        awaited.scope(path[depth])
      end
    end
  end
end
