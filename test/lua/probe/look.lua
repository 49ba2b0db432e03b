--- Changes a collection and then reads it in a way that the unit of work does not offer: a defect, which the tests'
--- guard catches.
--- @args way
--- @reply seen
--- @request write
--- @include lib/call lib/maps lib/sets lib/sorted lib/unit
sorted.add(keys.probesByChanges(), '1', 'a')
maps.put(keys.probeNotes(), 'a', '1')
sets.add(keys.probeNames(), 'a')
unit.push(keys.probeLog(), 'a')
local seen = 0
if way == 'offered' then
  seen = sorted.count(keys.probesByChanges()) + (sets.has(keys.probeNames(), 'a') and 1 or 0)
    + maps.get(keys.probeNotes(), 'a')
elseif way == 'moved' then
  sorted.add(keys.probesByChanges(), '3', 'a')
  sorted.add(keys.probesByChanges(), '2', 'b')
  seen = sorted.first(keys.probesByChanges())
elseif way == 'sorted' then
  seen = #redis.call('ZRANGE', keys.probesByChanges(), 0, -1)
elseif way == 'map' then
  seen = #redis.call('HGETALL', keys.probeNotes())
elseif way == 'set' then
  seen = redis.call('SISMEMBER', keys.probeNames(), 'a')
elseif way == 'list' then
  seen = redis.call('LLEN', keys.probeLog())
elseif way == 'journal' then
  emit.probe.changed('a', { changes = 1 })
  seen = #redis.call('XRANGE', keys.events(), '-', '+')
elseif way == 'write' then
  redis.call('ZADD', keys.probesByChanges(), '1', 'b')
end
return call.answer({ seen = seen }, 'operation')
