--- @include lib/clock lib/hooks allowance/_allowance allowance/_waiter scope/_scope
--- What the room adds to the work of others: see lib/hooks.

inRun.waiters, inRun.consumptions = {}, {}

function inRun.waiters.index(scopeId)
  return keys.scopeWaiters(scopeId)
end

function inRun.waiters.row(id)
  return rows.waiter(waiter.view(id))
end

function inRun.consumptions.total(scopeIds)
  local consumptions, consumedUnits = 0, 0
  for _, scopeId in ipairs(scopeIds) do
    local counted = scope.load(scopeId, 'consumptions', 'consumedUnits')
    consumptions, consumedUnits = consumptions + counted.consumptions, consumedUnits + counted.consumedUnits
  end
  return rows.consumptionTotals({ consumptions = consumptions, consumedUnits = consumedUnits })
end

function inRun.consumptions.holds(scopeId)
  return scope.load(scopeId, 'consumptions').consumptions > 0
end

--- Why a waiter waits, and the earliest time at which its wait may end; false if that is unknown, or if the time has
--- passed but no sweep has served the queue yet.
local function blockOf(record)
  if record.position > 1 then return 'HEAD_OF_LINE', false end
  local from = allowance.read(record.allowanceId, now)
  local at = allowance.nextMoment(from, record.units)
  return from.cooldownUntil and 'COOLDOWN' or 'WINDOW', at > 0 and at
end

--- WAITING waiters, oldest first.
function waiting.waiters(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.waitingWaiters(), 0, maxRows), maxRows, function(id)
    local record = waiter.load(id, '@waitingWaiter')
    record.position = redis.call('ZRANK', keys.liveWaiters(record.allowanceId), id) + 1
    record.blockedBy, record.blockedUntil = blockOf(record)
    return rows.waitingWaiter(record)
  end)
end

--- Grants whose window has not ended, the earliest end first.
function waiting.heldGrants(maxRows)
  local ids = redis.call('ZRANGE', keys.heldGrants(), '(' .. nowText, '+inf', 'BYSCORE', 'LIMIT', 0, maxRows + 1)
  return rowsOf(ids, maxRows, function(id)
    local record = waiter.load(id, '@heldGrant')
    record.windowEndsAt = redis.call('ZSCORE', keys.heldGrants(), id)
    return rows.heldGrant(record)
  end)
end

--- When the space's oldest WAITING waiter began to wait, or false.
function gauges.oldestWaitingAt()
  return tonumber(redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2]) or false
end
