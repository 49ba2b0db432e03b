--- Lists budgets, newest first, or only the one with this name. The next cursor is the last id.
--- @request read
--- @args limit cursor name
--- @reply nextCursor budgets:budget[]
--- @include lib/call lib/page budget/_budget
local ids, nextCursor
if name == '' then
  ids, nextCursor = page(keys.budgets(), limit, cursor)
else
  ids = { redis.call('HGET', keys.budgetNames(), name) or nil }
end
local budgets = {}
for i, budgetId in ipairs(ids) do budgets[i] = budget.view(budgetId) end
return call.answer({ nextCursor = nextCursor or false, budgets = budgets })
