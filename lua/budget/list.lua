--- Budgets, newest first: a page's next cursor (the last id, or false), then eight fields and the id of each.
--- @args limit cursor
--- @include "lib/call"
--- @include "lib/page"
call.read()
local ids, nextCursor = page(keys.budgets(), limit, cursor)
local records = {}
for _, budgetId in ipairs(ids) do
  local record = redis.call('HMGET', keys.budget(budgetId), 'name', 'currency', 'scale', 'limitMinor', 'reserved', 'settled',
    'available', 'createdAt')
  record[9] = budgetId
  records[#records + 1] = record
end
return call.answer(nextCursor, records)
