--- @record hold
--- @export holders
--- @include lib/clock lib/count lib/decimal lib/journal lib/lease lib/queue lib/records lib/refuse lib/sorted
--- @include lib/space lib/timer pool/_pool scope/_live scope/_scope space/_space
--- Holders and the holds they wait for. A holder is a run, a name and a session. Holds without a session cannot be told
--- apart.
local holders = {}

--- The holder of a hold as text; nil if it has no session. None of the parts contains a tab.
function holders.of(record)
  if not record.holderSession then return nil end
  local path = scope.path(record.scopeId)
  return (path and path[1] or record.scopeId) .. ' ' .. record.holder .. '\t' .. record.holderSession
end

local function member(record)
  local holder = holders.of(record)
  return holder and holder .. '\t' .. record.id
end

function holders.add(record)
  local entry = member(record)
  if entry then sorted.add(keys.waitingHolders(), '0', entry) end
end

function holders.remove(record)
  local entry = member(record)
  if entry then sorted.remove(keys.waitingHolders(), entry) end
end

--- The ids of at most `maxHolds` holds that a holder waits for.
function holders.waits(holder, maxHolds)
  local entries = sorted.byName(keys.waitingHolders(), holder .. '\t', '', maxHolds)
  for i, entry in ipairs(entries) do entries[i] = string.sub(entry, -36) end
  return entries
end

--- A hold's record and its transitions: WAITING, then HELD, CANCELLED or EXPIRED; HELD, then RELEASED or LAPSED.

leases['pool:lease'] = 'nextHoldLease'

--- The fields that transitions need; nil if there is no such hold.
function hold.read(holdId)
  return hold.load(holdId, 'poolId', 'scopeId', 'holder', 'holderSession', 'state', 'units', 'fence', 'leaseSeconds',
    'leaseExpiresAt', 'expiresAt', 'token')
end

--- The whole hold, for changes.
function hold.whole(holdId)
  return hold.load(holdId) or refuse('HOLD_NOT_FOUND')
end

--- The whole hold; while it waits, with its position.
function hold.view(holdId)
  local record = hold.whole(holdId)
  local rank = record.state == 'WAITING' and sorted.rank(keys.liveHolds(record.poolId), holdId)
  record.position = rank and rank + 1
  return record
end

--- The record as replies show it: without the times of an ended lease or wait.
function hold.shown(record)
  record = records.copy(record)
  if record.state ~= 'HELD' then record.leaseExpiresAt = false end
  if record.state ~= 'WAITING' then record.expiresAt = false end
  return record
end

--- Appends a new hold to the queue of its pool.
function hold.queue(record, path)
  hold.enter(record, 'WAITING')
  scope.addLive(path, 1)
  scope.addAlong(path, 'liveWaiters', 1)
  holders.add(record)
  record.position = queue.add('pool:hold', record.poolId, record.id, record.units)
  timer.arm('pool:hold', record.id, record.expiresAt)
  emit.hold.queued(record.id, record)
end

local function leaveQueue(record)
  local path = scope.path(record.scopeId)
  scope.addLive(path, -1)
  scope.addAlong(path, 'liveWaiters', -1)
  holders.remove(record)
  queue.leave('pool:hold', record.poolId, record.id)
  timer.disarm('pool:hold', record.id)
  journal.wake(record.id)
  record.position = nil
end

--- Grants a new or WAITING hold its units at the time `at`, when its lease starts. source: the pool's record.
function hold.grant(record, source, at)
  if record.state == 'WAITING' then leaveQueue(record) end
  records.set(record, 'fence', pool.take(source, record.units))
  records.set(record, 'heldAt', at)
  records.set(record, 'leaseExpiresAt', at + record.leaseSeconds * 1000)
  hold.keep(record)
  sorted.add(keys.heldHolds(record.poolId), decimal(record.fence), record.id)
  count.org('usedAgents', record.units)
  hold.enter(record, 'HELD')
  emit.hold.held(record.id, record)
end

--- Adds a hold's lease to the leases of the space.
function hold.keep(record)
  lease.hold('pool:lease', keys.holdLeases(), record.id, record.leaseExpiresAt,
    space.load(spaceId, 'nextHoldLease').nextHoldLease)
end

--- Moves a hold to a final state at the time `at`. A HELD one frees its units; the caller serves the queue. emitter:
--- emits its event, with the cause.
function hold.finish(record, state, at, emitter, cause)
  if record.state == 'WAITING' then
    leaveQueue(record)
  else
    pool.give(pool.read(record.poolId), record.units)
    sorted.remove(keys.holdLeases(), record.id)
    sorted.remove(keys.heldHolds(record.poolId), record.id)
    count.org('usedAgents', -record.units)
  end
  records.set(record, 'finishedAt', at)
  hold.enter(record, state)
  emitter(record.id, record, cause)
  sorted.add(keys.finishedHolds(), decimal(at), record.id)
end

--- Expires a hold that has waited long enough.
function hold.expire(record, at)
  hold.finish(record, 'EXPIRED', at, emit.hold.expired)
end

--- Refuses unless the token holds the units; the detail says what became of them. A lease has ended once its time is
--- up, swept or not.
function hold.check(record, token)
  if record.token ~= token then refuse('CLAIM_LOST', 'HOLD_NOT_ISSUED') end
  if record.state ~= 'HELD' then
    local finishedAt = hold.load(record.id, 'finishedAt').finishedAt
    refuse('CLAIM_LOST', 'HOLD_' .. record.state .. (finishedAt and ' ' .. decimal(finishedAt) or ''))
  end
  local cancel = scope.cancelFor(record)
  if cancel then refuse('CLAIM_LOST', 'HOLD_RELEASED ' .. decimal(cancel.cancelledAt)) end
  if record.leaseExpiresAt <= now then refuse('CLAIM_LOST', 'HOLD_LAPSED ' .. decimal(record.leaseExpiresAt)) end
end
