--- @include "lib/due"
--- @include "allowance/_serve"
--- A moment at which a grant can be possible: a window's start, a cooldown's end, or more to do of either.
due['allowance:grant'] = function(allowanceId, at, most)
  return math.max(1, serve(allowanceId, at, most))
end

--- The end of a waiter's time to live.
due['allowance:waiter'] = function(waiterId, at, most)
  local record = waiter.read(waiterId)
  if not record or record.state ~= 'WAITING' then return 1 end
  local cancel = scope.cancelOf(scope.path(record.scopeId))
  if cancel then
    waiter.unqueue(record, cancel)
    return 1
  end
  local wasHead = sorted.first(keys.liveWaiters(record.allowanceId)) == waiterId
  if not wasHead then queue.rebuild(record.allowanceId, waiterId) end
  waiter.finish(record, 'EXPIRED', at, emit.waiter.expired)
  return 1 + (wasHead and serve(record.allowanceId, at, most - 1) or 0)
end
