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
    local counted = scope.load(scopeId, 'consumptions', 'consumedUnits')
    total.count, total.units = total.count + counted.consumptions, total.units + counted.consumedUnits
  end
  return rows.consumptionTotals(total)
end

function inRun.consumptions.holds(scopeId)
  return scope.load(scopeId, 'consumptions').consumptions > 0
end
