--- @include lib/queue allowance/_allowance allowance/_cancel allowance/_waiter scope/_scope
lines['allowance:waiter'] = {
  list = function(id) return keys.waiterQueue(id) end,
  rebuilt = function(id) return keys.rebuiltQueue(id) end,
  live = function(id) return keys.liveWaiters(id) end,
  units = function(id) return keys.waiterUnits(id) end,
  waiting = function() return keys.waitingWaiters() end,
  of = function(record) return record.allowanceId end,
  load = function(id) return allowance.load(id, 'sequence', 'rebuiltThrough') end,
  key = function(id) return keys.allowance(id) end,
  read = waiter.read,
  cancelOf = scope.cancelFor,
  stop = waiter.stop,
  expire = waiter.expire,
  unqueue = waiter.unqueue,
}
