--- Lists allowances with their balances in the current window, newest first, or only the one with this name. The next
--- cursor is the last id.
--- @request read
--- @args limit cursor name
--- @reply nextCursor allowances:allowance[]
--- @include lib/call lib/page allowance/_allowance
local ids, nextCursor
if name == '' then
  ids, nextCursor = page(keys.allowances(), limit, cursor)
else
  ids = { redis.call('HGET', keys.allowanceNames(), name) or nil }
end
local allowances = {}
for i, allowanceId in ipairs(ids) do allowances[i] = allowance.view(allowanceId) end
return call.answer({ nextCursor = nextCursor or false, allowances = allowances })
