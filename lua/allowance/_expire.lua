--- @include lib/due lib/queue lib/unit allowance/_cancel allowance/_serve allowance/_waiter
--- Both read queues that the sweep may have changed before.
--- A time at which a grant may be possible: the start of a window, the end of a cooldown, or the rest of the work of one.
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
