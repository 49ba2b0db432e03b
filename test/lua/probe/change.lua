--- Changes one value of each kind so that the number of changes shows; then refuses if `refuses` is 1.
--- @args name refuses
--- @reply seen
--- @gather
--- @request write
--- @space probes:MADE
--- @include lib/call lib/clock lib/count lib/maps lib/records lib/refuse lib/sets lib/sorted lib/timer lib/unit
--- @include probe/_probe
local record = probe.load(name, 'changes')
if not record then
  record = { id = name, changes = 0 }
  probe.enter(record, 'MADE')
  probe.insert(record)
end
records.set(record, 'changes', record.changes + 1)
records.set(record, 'note', 'as of ' .. record.changes)
sorted.add(keys.probesByChanges(), string.format('%d', record.changes), name)
sorted.remove(keys.probesByChanges(), 'nobody')
maps.put(keys.probeNotes(), name, 'note ' .. record.changes)
maps.remove(keys.probeNotes(), 'nobody')
sets.add(keys.probeNames(), name)
unit.push(keys.probeLog(), name)
count.org('usedTasks', 1)
timer.arm('probe:change', name, now + 3600000)
emit.probe.changed(name, record)
if refuses == '1' then refuse('PROBE_REFUSED', record.changes) end
return call.answer({ seen = sorted.count(keys.probesByChanges()) }, 'operation')
