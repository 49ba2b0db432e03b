--- @export ancestors
--- @include lib/money lib/refuse budget/_budget
--- A budget and all budgets above it. An amount spent from the budget is spent from each of them. The ids of its
--- ancestors are stored at creation and never change.
local ancestors = {}

--- The budget, then its parent, and so on up to the root, each at the current time, or at an earlier moment `at`.
function ancestors.of(record, at)
  local levels = { record }
  if record.line then
    for budgetId in string.gmatch(record.line, '%S+') do levels[#levels + 1] = budget.read(budgetId, at) end
  end
  return levels
end

--- Refuses because this budget has too little money left. The detail of an overdrawn one has the limit that ends this,
--- and, of one with windows, when the next one begins and how much it will pay.
function ancestors.refuseShort(record)
  local short = record.available .. ' - - -'
  if budget.isOverdrawn(record) then
    short = record.overdrawn .. ' ' .. budget.neededLimit(record) .. ' '
    if record.windowSeconds then
      local room = money.subtract(record.limitMinor, record.reserved)
      short = short .. string.format('%d', record.windowStartedAt + record.windowSeconds * 1000) .. ' '
        .. money.least(record.overdrawn, room)
    else
      short = short .. '- -'
    end
  end
  refuse('INSUFFICIENT_BUDGET', short .. ' ' .. record.id .. ' ' .. budget.load(record.id, 'name').name)
end

--- Refuses an amount that is not available in each of the budgets.
function ancestors.needAvailable(levels, amountMinor)
  for i = 1, #levels do
    local record = levels[i]
    if budget.isOverdrawn(record) or money.exceeds(amountMinor, record.available) then ancestors.refuseShort(record) end
  end
end

--- Moves an amount from one balance to another in each budget.
function ancestors.move(levels, from, to, amountMinor)
  for i = 1, #levels do
    local record = levels[i]
    budget.storeRoll(record)
    budget.move(record, from, to, amountMinor)
  end
end
