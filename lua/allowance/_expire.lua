--- @include lib/hooks lib/queue lib/unit allowance/_cancel allowance/_serve allowance/_waiter
--- Both handlers read queues, which the sweep may have changed before, so the changes are written first.

--- A time at which a grant may be possible: a window starts, a cooldown ends, or an earlier step has left work.
due['allowance:grant'] = function(allowanceId, at, maxChanges)
  unit.write()
  return math.max(1, serveWaiters(allowanceId, at, maxChanges))
end

--- The end of a waiter's time to live.
due['allowance:waiter'] = function(waiterId, at, maxChanges)
  unit.write()
  local allowanceId = queue.expire('allowance:waiter', waiterId, at)
  return 1 + (allowanceId and serveWaiters(allowanceId, at, maxChanges - 1) or 0)
end
