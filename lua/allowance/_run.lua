--- @include "lib/inRun"
--- @include "allowance/_waiter"
inRun.waiters, inRun.consumptions = {}, {}

function inRun.waiters.index(scopeId)
  return keys.scopeWaiters(scopeId)
end

function inRun.waiters.row(id)
  return rows.waiter(waiter.view(id))
end

function inRun.consumptions.total(scopeIds)
  local total = { count = 0, units = 0 }
  for _, scopeId in ipairs(scopeIds) do
    local values = redis.call('HMGET', keys.scope(scopeId), 'consumptions', 'consumedUnits')
    total.count, total.units = total.count + (values[1] or 0), total.units + (values[2] or 0)
  end
  return rows.consumptionTotals(total)
end

function inRun.consumptions.holds(scopeId)
  return (tonumber(redis.call('HGET', keys.scope(scopeId), 'consumptions')) or 0) > 0
end
