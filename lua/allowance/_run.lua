--- @include lib/inRun allowance/_waiter scope/_scope
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
