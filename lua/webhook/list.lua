--- Destinations, newest first: a page's next cursor (the last id, or false), then their records.
--- @args limit cursor
--- @include "lib/call"
--- @include "lib/page"
--- @include "webhook/_destination"
call.read()
local ids, nextCursor = page(keys.destinations(), limit, cursor)
local records = {}
for i, destinationId in ipairs(ids) do records[i] = destination.view(destinationId) end
return call.answer(nextCursor, records)
