--- Destinations, newest first: a page's next cursor (the last id, or false), then their records.
--- @args limit cursor
--- @include "lib/call"
--- @include "webhook/_destination"
call.read()
local ids = redis.call('ZRANGE', keys.destinations(), cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
local more = #ids > tonumber(limit)
if more then ids[#ids] = nil end
local page = {}
for i, destinationId in ipairs(ids) do page[i] = destination.view(destinationId) end
return call.answer(more and ids[#ids], page)
