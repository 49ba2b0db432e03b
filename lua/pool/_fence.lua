--- @export fence
--- @include lib/clock lib/records lib/space space/_space
--- Fences: whole numbers that only grow. One counter serves the whole space, so a pool created again under an old name
--- continues from earlier fences. They also grow with the clock, in microseconds. So they keep growing after a restore or a
--- lost second of the log, which may set the counter back, but not the time.
local fence = {}

function fence.next()
  local record = space.load(spaceId, 'lastFence')
  -- `fraction` is in 1/4096 of a millisecond.
  local micros = now * 1000 + math.floor(fraction / 4.096)
  records.set(record, 'lastFence', math.max(record.lastFence + 1, micros))
  return record.lastFence
end
