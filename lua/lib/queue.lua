--- @export queue
--- @registry lines
--- @include lib/again lib/clock lib/hooks lib/records lib/sorted lib/timer lib/unit
--- A queue of waiters for units of something, strictly first in, first out. A list keeps the order. A sorted set of the
--- live waiters, scored by arrival, gives positions and cheap removal. A waiter that leaves from the middle stays in
--- the list as a dead entry, which is skipped at the head.
---
--- `lines` describes each kind of queue, `<room>:<kind>`; each room's _queue.lua adds its own:
--- list(id), rebuilt(id), live(id), units(id): keys of the queue for the resource with this id; waiting(): the key of
--- all waiters of the space.
--- load(id): the resource's record, with `sequence` and `rebuiltThrough`; key(id): its key.
--- read(waiterId): a waiter's record, with `state`, `units` and `expiresAt`; of(record): the id of the resource;
--- cancelOf(record): the cancel of its run, if any.
--- stop(record, cancel): ends a waiter whose run is cancelled; expire(record, at): ends a waiter whose time ended at
--- `at`; unqueue(record, cancel): like stop, for a waiter at any position.
local queue, lines = { rebuildBatch = 100 }, {}
--- The most waiters that a step looks at for those that want too much.
local maxLooks = 1000
--- Appends a waiter for `units` and returns its position.
function queue.add(kind, id, waiterId, units)
  local line = lines[kind]
  local record = line.load(id)
  records.set(record, 'sequence', record.sequence + 1)
  unit.push(line.list(id), waiterId)
  sorted.add(line.live(id), string.format('%d', record.sequence), waiterId)
  sorted.add(line.waiting(), nowText, waiterId)
  sorted.add(line.units(id), string.format('%d', units), waiterId)
  return sorted.count(line.live(id))
end

--- Takes a waiter out of the queue. Its entry in the list is now dead.
function queue.leave(kind, id, waiterId)
  local line = lines[kind]
  sorted.remove(line.live(id), waiterId)
  sorted.remove(line.waiting(), waiterId)
  sorted.remove(line.units(id), waiterId)
end

--- Whether a waiter about to leave without being served is at the head; if so, the waiters behind it may be served. If
--- it leaves from the middle, the list may be rebuilt.
function queue.isLeavingHead(kind, id, waiterId)
  if sorted.first(lines[kind].live(id)) == waiterId then return true end
  queue.rebuild(kind, id, waiterId)
  return false
end

--- Deletes a queue that has only dead entries left.
function queue.clear(kind, id)
  local line = lines[kind]
  unit.delete(line.list(id), line.rebuilt(id))
  records.put(line.key(id), 'rebuiltThrough', false)
end

--- Copies one batch of the live waiters, as they are stored, to the new list, which replaces the old one after the last
--- batch. Returns whether it was the last.
local function rebuildStep(kind, id, leavingId)
  local line = lines[kind]
  local live, list, rebuilt = line.live(id), line.list(id), line.rebuilt(id)
  local record = line.load(id)
  local batch = redis.call('ZRANGE', live, '(' .. record.rebuiltThrough, '+inf', 'BYSCORE', 'LIMIT', 0,
    queue.rebuildBatch)
  local kept = {}
  for _, waiterId in ipairs(batch) do
    if waiterId ~= leavingId then kept[#kept + 1] = waiterId end
  end
  if kept[1] then unit.command('RPUSH', rebuilt, unpack(kept)) end
  if #batch == queue.rebuildBatch then
    records.set(record, 'rebuiltThrough', tonumber(redis.call('ZSCORE', live, batch[#batch])))
    return false
  end
  unit.delete(list)
  if unit.isChanged(rebuilt) or redis.call('EXISTS', rebuilt) == 1 then unit.command('RENAME', rebuilt, list) end
  records.set(record, 'rebuiltThrough', false)
  return true
end

--- Rebuilds the list once dead entries outnumber the live waiters: one batch each time a waiter leaves, which is faster
--- than the queue grows. Waiters that left in the meantime are dead entries of the new list. Call it before the waiter
--- `leavingId` leaves from the middle.
function queue.rebuild(kind, id, leavingId)
  local line = lines[kind]
  local live, list = line.live(id), line.list(id)
  if unit.lengthOf(list) <= 2 * (sorted.count(live) - 1) + queue.rebuildBatch then return end
  if unit.isChanged(live) or unit.isChanged(list) or unit.isChanged(line.rebuilt(id)) then
    -- What would be copied is not written yet: the call is sent back until a background step has rebuilt the list. If
    -- that has no dead entries, a later call rebuilds it from what this invocation leaves behind.
    if redis.call('LLEN', list) > redis.call('ZCARD', live) then
      again('DUE', timer.named('queue:rebuild', kind .. ' ' .. id))
    end
    return
  end
  rebuildStep(kind, id, leavingId)
end

--- Rebuilds a list step by step, even a stored list that is short enough: the call that was sent back takes more
--- waiters out.
due['queue:rebuild'] = function(place)
  local kind, id = string.match(place, '^(%S+) (%S+)$')
  unit.write()
  if not lines[kind].load(id) then return 1 end
  local isDone = rebuildStep(kind, id, '')
  unit.write()
  if not isDone then timer.armInBackground('queue:rebuild', place, now) end
  return queue.rebuildBatch
end

--- Expires a waiter at `at`, unless it has left already. Returns the id of the resource if the waiters behind it may be
--- served.
function queue.expire(kind, waiterId, at)
  local line = lines[kind]
  local record = line.read(waiterId)
  if not record or record.state ~= 'WAITING' then return end
  local cancel = line.cancelOf(record)
  if cancel then return line.unqueue(record, cancel) end
  local id = line.of(record)
  local wasHead = queue.isLeavingHead(kind, id, waiterId)
  line.expire(record, at)
  return wasHead and id
end

--- At most `maxWaiters` ids from the head, dead entries included, and whether they come from the list. If the
--- invocation has changed the list, they come from the sorted set, which has the same order; waiters that leave then
--- remain in the list as dead entries.
local function heads(line, id, maxWaiters)
  local list = line.list(id)
  if not unit.isChanged(list) then return redis.call('LRANGE', list, 0, maxWaiters - 1), true end
  local ids, entries = {}, sorted.front(line.live(id), maxWaiters)
  for i = 1, #entries, 2 do ids[#ids + 1] = entries[i] end
  return ids, false
end

--- Serves at most `maxWaiters` from the head, as of the time `at`. While the queue is not empty nobody else gets units,
--- so the order holds over any number of steps. take(head) takes the head's units and returns nil; or returns the time
--- from which it may have them, or false if some other event will serve the queue. Returns the number of waiters that
--- left, and the time of the next step: `at` if there may be more to do, false if `take` returned false, nil if nobody
--- waits.
function queue.serve(kind, id, at, maxWaiters, take)
  local line = lines[kind]
  local ids, isListed = heads(line, id, maxWaiters)
  local live = #ids > 0 and sorted.scores(line.live(id), ids)
  local left, passed, nextAt = 0, 0, nil
  for i, waiterId in ipairs(ids) do
    if live[i] then
      local head = line.read(waiterId)
      local cancel = line.cancelOf(head)
      if cancel then
        line.stop(head, cancel)
      elseif head.expiresAt <= at then
        line.expire(head, at)
      else
        nextAt = take(head)
        if nextAt ~= nil then break end
      end
      left = left + 1
    end
    passed = i
  end
  if nextAt == nil and #ids == maxWaiters then nextAt = at end
  if nextAt == nil then
    queue.clear(kind, id)
  elseif passed > 0 and isListed then
    unit.command('LTRIM', line.list(id), passed, -1)
  end
  return left, nextAt
end

--- The largest number of units that a waiter wants, if it is more than `units`; else nil. Waiters of cancelled runs
--- don't count: a background step ends them before the call goes on.
function queue.above(kind, id, units)
  local line = lines[kind]
  local waiterId, most = sorted.last(line.units(id))
  if not waiterId or tonumber(most) <= tonumber(units) then return nil end
  if line.cancelOf(line.read(waiterId)) then
    again('DUE', timer.named('queue:above', kind .. ' ' .. id .. ' ' .. units))
  end
  return tonumber(most)
end

--- Ends waiters of cancelled runs that want more than `units`. It passes over those of other runs, which the call that
--- was sent back may have taken out.
due['queue:above'] = function(place, _, limit)
  local kind, id, units = string.match(place, '^(%S+) (%S+) (%S+)$')
  local line, done = lines[kind], 0
  local entries = sorted.byScore(line.units(id), '(' .. units, '9e15', maxLooks)
  for i = 1, #entries, 2 do
    if done == limit then
      timer.armInBackground('queue:above', place, now)
      break
    end
    local record = line.read(entries[i])
    local cancel = line.cancelOf(record)
    if cancel then
      line.unqueue(record, cancel)
      done = done + 1
    end
  end
  return math.max(1, done)
end
