--- Allowances with their balances of the current window, newest first: a page's next cursor (the last id, or false),
--- then the records.
--- @args limit cursor
--- @include "lib/call"
--- @include "allowance/_allowance"
call.read()
local ids = redis.call('ZRANGE', keys.allowances(), cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
local more = #ids > tonumber(limit)
if more then ids[#ids] = nil end
local page = {}
for i, allowanceId in ipairs(ids) do page[i] = allowance.view(allowance.read(allowanceId, now)) end
return call.answer(more and ids[#ids], page)
