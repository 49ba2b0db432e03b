--- @include lib/clock lib/waiting allowance/_allowance allowance/_waiter

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
    local record = waiter.load(id, 'allowanceId', 'scopeId', 'holder', 'units', 'createdAt', 'expiresAt')
    record.position = redis.call('ZRANK', keys.liveWaiters(record.allowanceId), id) + 1
    record.blockedBy, record.blockedUntil = blockOf(record)
    return rows.waitingWaiter(record)
  end)
end

--- Grants whose window has not ended, the earliest end first.
function waiting.heldGrants(maxRows)
  local ids = redis.call('ZRANGE', keys.heldGrants(), '(' .. nowText, '+inf', 'BYSCORE', 'LIMIT', 0, maxRows + 1)
  return rowsOf(ids, maxRows, function(id)
    local record = waiter.load(id, 'allowanceId', 'scopeId', 'holder', 'units')
    record.windowEndsAt = redis.call('ZSCORE', keys.heldGrants(), id)
    return rows.heldGrant(record)
  end)
end
