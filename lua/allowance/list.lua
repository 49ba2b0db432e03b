--- Allowances with their balances of the current window, newest first: a page's next cursor (the last id, or false),
--- then the records.
--- @args limit cursor
--- @include "lib/call"
--- @include "lib/page"
--- @include "allowance/_allowance"
call.read()
local ids, nextCursor = page(keys.allowances(), limit, cursor)
local records = {}
for i, allowanceId in ipairs(ids) do records[i] = allowance.view(allowance.read(allowanceId, now)) end
return call.answer(nextCursor, records)
