--- @export fence
--- @include lib/clock lib/records lib/space space/_space
--- Fences: whole numbers that only grow. One count serves the whole space, so a pool that is made anew under an old name goes
--- on from the fences of the one before. The clock in microseconds lets them grow even after a restore, or a second of
--- the log that was lost: the count may have gone back then, the time has not.
local fence = {}

function fence.next()
  local record = space.load(spaceId, 'lastFence')
  -- `fraction` is in 1/4096 of a millisecond.
  local micros = now * 1000 + math.floor(fraction / 4.096)
  records.set(record, 'lastFence', math.max(record.lastFence + 1, micros))
  return record.lastFence
end
