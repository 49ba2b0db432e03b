--- @export queue
--- @include lib/clock lib/records lib/sendBack lib/sorted lib/unit allowance/_allowance
--- The waiters of an allowance, strictly first in, first out. A list has the order; a sorted set of the live waiters, scored
--- by arrival, gives positions and cheap removal. A waiter that leaves from the middle remains in the list as a dead entry,
--- which is skipped at the head.
local queue = { rebuildBatch = 100 }

--- Sends the call back if the invocation has changed one of these keys: they are read as a whole, which shows what is
--- stored.
function queue.needStored(...)
  for _, key in ipairs({ ... }) do
    if unit.isChanged(key) then sendBack('DUE') end
  end
end

--- Appends a waiter for `units` and returns its position.
function queue.add(allowanceId, waiterId, units)
  local record = allowance.load(allowanceId, 'sequence')
  records.set(record, 'sequence', record.sequence + 1)
  unit.push(keys.waiterQueue(allowanceId), waiterId)
  sorted.add(keys.liveWaiters(allowanceId), string.format('%d', record.sequence), waiterId)
  sorted.add(keys.waitingWaiters(), nowText, waiterId)
  sorted.add(keys.waiterUnits(allowanceId), string.format('%d', units), waiterId)
  return sorted.count(keys.liveWaiters(allowanceId))
end

--- Deletes the queue when only dead entries are left.
function queue.clear(allowanceId)
  unit.delete(keys.waiterQueue(allowanceId), keys.rebuiltQueue(allowanceId))
  records.put(keys.allowance(allowanceId), 'rebuiltThrough', false)
end

--- Rebuilds the list from the live waiters once dead entries outnumber them: one batch each time a waiter leaves, which is
--- faster than the queue grows. The last batch replaces the old list; waiters that were granted or left in the meantime are
--- dead entries of the new one. Called before the waiter `leavingId` leaves from the middle.
function queue.rebuild(allowanceId, leavingId)
  local live, list, rebuilt = keys.liveWaiters(allowanceId), keys.waiterQueue(allowanceId), keys.rebuiltQueue(allowanceId)
  queue.needStored(live, list, rebuilt)
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
