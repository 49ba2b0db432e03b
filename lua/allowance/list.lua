--- Lists allowances with their balances in the current window, newest first; the next cursor is the last id.
--- @args limit cursor
--- @reply nextCursor allowances:allowance[]
--- @include "lib/call"
--- @include "lib/page"
--- @include "allowance/_allowance"
call.read()
local ids, nextCursor = page(keys.allowances(), limit, cursor)
local allowances = {}
for i, allowanceId in ipairs(ids) do allowances[i] = allowance.view(allowanceId) end
return call.answer({ nextCursor = nextCursor, allowances = allowances })
