--- @include lib/hooks lib/maps lib/records lib/sorted lib/unit allowance/_consumption allowance/_waiter scope/_retain
--- @include scope/_scope
--- Removes a granted, cancelled or expired waiter.
retained['allowance:waiter'] = function(waiterId, at)
  local record = waiter.load(waiterId, 'scopeId', 'state')
  unit.delete(keys.waiter(waiterId))
  sorted.remove(keys.scopeWaiters(record.scopeId), waiterId)
  sorted.remove(keys.heldGrants(), waiterId)
  waiter.leave(record.state)
  scope.release(record.scopeId, at)
end

--- Removes a consumption: the answer stored for its workKey, and its share of the sums of its scope.
retained['allowance:consumption'] = function(member, at)
  local parsed = consumption.parse(member)
  if parsed.workKey ~= '' then maps.remove(keys.consumptionKeys(parsed.allowanceId), parsed.workKey) end
  records.add(keys.scope(parsed.scopeId), 'consumptions', -1)
  records.add(keys.scope(parsed.scopeId), 'consumedUnits', -(parsed.settledUnits or parsed.units))
  scope.release(parsed.scopeId, at)
end
