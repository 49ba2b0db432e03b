--- @include "lib/inRun"
--- @include "allowance/_consumption"
--- @include "allowance/_waiter"
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
    local own = consumptionTotals.load(scopeId, 'consumptions', 'consumedUnits')
    consumptions, consumedUnits = consumptions + own.consumptions, consumedUnits + own.consumedUnits
  end
  return rows.consumptionTotals({ consumptions = consumptions, consumedUnits = consumedUnits })
end

function inRun.consumptions.holds(scopeId)
  return consumptionTotals.load(scopeId, 'consumptions').consumptions > 0
end
