--- @include "lib/clock"
--- @include "lib/unit"
--- @include "allowance/_allowance"
--- The waiters of an allowance, strictly first in, first out. A list gives the order; a sorted set of the live ones,
--- scored by the order they came in, gives position and cheap removal. Who leaves out of the middle stays in the list
--- as a dead entry, which the head skips.
local queue = { rebuildBatch = 100 }

--- Puts a waiter for so many units at the end, and returns its position.
function queue.add(allowanceId, waiterId, units)
  local record = allowance.load(allowanceId, 'sequence')
  records.set(record, 'sequence', record.sequence + 1)
  unit.push(keys.waiterQueue(allowanceId), waiterId)
  sorted.add(keys.liveWaiters(allowanceId), string.format('%d', record.sequence), waiterId)
  sorted.add(keys.waitingWaiters(), nowText, waiterId)
  sorted.add(keys.waiterUnits(allowanceId), string.format('%d', units), waiterId)
  return sorted.count(keys.liveWaiters(allowanceId))
end

--- Nobody waits any more: what is left are dead entries.
function queue.clear(allowanceId)
  unit.delete(keys.waiterQueue(allowanceId), keys.rebuiltQueue(allowanceId))
  records.put(keys.allowance(allowanceId), 'rebuiltThrough', false)
end

--- Where the dead outnumber the living, goes on with a list of the living alone: one batch with each waiter that
--- leaves, so the new list gains on the old one. The last batch puts it in the old one's place; who was granted or
--- left meanwhile is a dead entry there.
--- Asked before the waiter `leavingId` leaves out of the middle.
function queue.rebuild(allowanceId, leavingId)
  local live, list, rebuilt = keys.liveWaiters(allowanceId), keys.waiterQueue(allowanceId), keys.rebuiltQueue(allowanceId)
  -- A sweep may have come here before.
  if unit.isChanged(live) or unit.isChanged(list) or unit.isChanged(rebuilt) then unit.write() end
  local living = redis.call('ZCARD', live) - 1
  if redis.call('LLEN', list) <= 2 * living + queue.rebuildBatch then return end
  local record = allowance.load(allowanceId, 'rebuiltThrough')
  local batch = redis.call('ZRANGE', live, '(' .. record.rebuiltThrough, '+inf', 'BYSCORE', 'LIMIT', 0, queue.rebuildBatch)
  local kept = {}
  for _, waiterId in ipairs(batch) do
    if waiterId ~= leavingId then kept[#kept + 1] = waiterId end
  end
  if kept[1] then unit.command('RPUSH', rebuilt, unpack(kept)) end
  if #batch == queue.rebuildBatch then
    records.set(record, 'rebuiltThrough', tonumber(redis.call('ZSCORE', live, batch[#batch])))
    return
  end
  unit.delete(list)
  if unit.isChanged(rebuilt) or redis.call('EXISTS', rebuilt) == 1 then unit.command('RENAME', rebuilt, list) end
  records.set(record, 'rebuiltThrough', false)
end
