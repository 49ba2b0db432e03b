--- @export serveWaiters
--- @include lib/hooks lib/queue lib/queueTimer lib/timer allowance/_allowance allowance/_cancel allowance/_grant
--- @include allowance/_waiter
--- Grants units at the time `at` to at most `maxWaiters` waiters from the head of the queue, and arms the timer for the
--- next possible grant, which is `at` if there may be more to do. Returns the number of waiters that left.
local function serveWaiters(allowanceId, at, maxWaiters)
  -- Usually the head is blocked, so reading far beyond it would be wasted.
  maxWaiters = math.min(maxWaiters, 25)
  if maxWaiters < 1 then
    queueTimer.serve('allowance:grant', allowanceId, at)
    return 0
  end
  local source, granted = allowance.read(allowanceId, at), {}
  local left, nextAt = queue.serve('allowance:waiter', allowanceId, at, maxWaiters, function(head)
    local possibleAt = allowance.nextMoment(source, head.units)
    if possibleAt > at then return possibleAt end
    allowance.use(source, head.units)
    granted[#granted + 1] = head
  end)
  if granted[1] then waiter.grant(granted, source, at) end
  if nextAt then
    queueTimer.serve('allowance:grant', allowanceId, nextAt)
  else
    timer.disarm('allowance:grant', allowanceId)
    freed.units('ALLOWANCE', allowanceId, at)
  end
  return left
end
