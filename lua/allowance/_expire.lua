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
  local record = waiter.read(waiterId)
  if not record or record.state ~= 'WAITING' then return 1 end
  local cancel = waiter.cancelOf(record)
  if cancel then
    waiter.unqueue(record, cancel)
    return 1
  end
  local wasHead = queue.isLeavingHead('allowance:waiter', record.allowanceId, waiterId)
  waiter.expire(record, at)
  return 1 + (wasHead and serveWaiters(record.allowanceId, at, maxChanges - 1) or 0)
end
