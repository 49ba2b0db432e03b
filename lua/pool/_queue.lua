--- @include lib/queue pool/_cancel pool/_hold pool/_pool scope/_scope
lines['pool:hold'] = {
  list = function(id) return keys.poolQueue(id) end,
  rebuilt = function(id) return keys.rebuiltPoolQueue(id) end,
  live = function(id) return keys.liveHolds(id) end,
  units = function(id) return keys.holdUnits(id) end,
  waiting = function() return keys.waitingHolds() end,
  of = function(record) return record.poolId end,
  load = function(id) return pool.load(id, 'sequence', 'rebuiltThrough') end,
  key = function(id) return keys.pool(id) end,
  read = hold.read,
  cancelOf = scope.cancelFor,
  stop = hold.stop,
  expire = hold.expire,
  unqueue = hold.unqueue,
}
