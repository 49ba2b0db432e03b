--- Budgets, newest first: a page's next cursor (the last id, or false), then eight fields and the id of each.
--- @args limit cursor
--- @include "lib/call"
call.read()
local ids = redis.call('ZRANGE', keys.budgets(), cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
local more = #ids > tonumber(limit)
if more then ids[#ids] = nil end
local page = {}
for _, budgetId in ipairs(ids) do
  local record = redis.call('HMGET', keys.budget(budgetId), 'name', 'currency', 'scale', 'limitMinor', 'reserved', 'settled',
    'available', 'createdAt')
  record[9] = budgetId
  page[#page + 1] = record
end
return call.answer(more and ids[#ids], page)
