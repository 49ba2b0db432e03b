--- @include lib/hooks lib/sorted lib/unit barrier/_barrier scope/_retain scope/_scope
--- Removes a RELEASED or CANCELLED barrier. A barrier whose next epoch has started is not in the finished set.
retained['barrier:barrier'] = function(barrierId, at)
  local record = barrier.load(barrierId, 'scopeId', 'state')
  unit.delete(keys.barrier(barrierId), keys.arrivalKeys(barrierId))
  sorted.remove(keys.barriers(), barrierId)
  sorted.remove(keys.scopeBarriers(record.scopeId), barrierId)
  barrier.leave(record.state)
  scope.release(record.scopeId, at)
end
