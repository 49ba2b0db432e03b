--- Lists budgets, newest first; the next cursor is the last id.
--- @args limit cursor
--- @reply nextCursor budgets:budget[]
--- @include "lib/call"
--- @include "lib/page"
--- @include "budget/_budget"
call.read()
local ids, nextCursor = page(keys.budgets(), limit, cursor)
local budgets = {}
for i, budgetId in ipairs(ids) do budgets[i] = budget.load(budgetId) end
return call.answer({ nextCursor = nextCursor, budgets = budgets })
