--- Lists destinations, newest first.
--- @request read
--- @args limit cursor
--- @reply nextCursor destinations:destination[]
--- @include lib/call lib/page webhook/_destination
local ids, nextCursor = page(keys.destinations(), limit, cursor)
local destinations = {}
for i, id in ipairs(ids) do destinations[i] = destination.view(id) end
return call.answer({ nextCursor = nextCursor, destinations = destinations })
