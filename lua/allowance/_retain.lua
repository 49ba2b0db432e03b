--- @include "lib/retained"
--- @include "lib/unit"
--- @include "scope/_retain"
--- @include "allowance/_consumption"
--- @include "allowance/_waiter"
--- Granted, cancelled and expired waiters, and consumptions with their workKeys.
retained['allowance:waiter'] = function(waiterId, at)
  local record = waiter.load(waiterId, 'scopeId', 'state')
  unit.delete(keys.waiter(waiterId))
  sorted.remove(keys.scopeWaiters(record.scopeId), waiterId)
  sorted.remove(keys.heldGrants(), waiterId)
  waiter.leave(record.state)
  scope.release(record.scopeId, at)
end

--- Nothing is kept of a consumption but its entry, and what its workKey answers.
retained['allowance:consumption'] = function(entry, at)
  local made = consumption.ended(entry)
  if made.workKey ~= '' then maps.remove(keys.consumptionKeys(made.allowanceId), made.workKey) end
  records.add(keys.scope(made.scopeId), 'consumptions', -1)
  records.add(keys.scope(made.scopeId), 'consumedUnits', -made.units)
  scope.release(made.scopeId, at)
end
