--- Attempts, newest first, of all destinations or of one (then a bounded scan: a page may be short). Replies with the
--- position to go on from (or false) and the rows.
--- @args limit cursor destinationId
--- @include "lib/call"
call.read()
limit = tonumber(limit)
local scan = destinationId == '' and limit + 1 or 1000
local entries = redis.call('XREVRANGE', keys.deliveries(), cursor == '' and '+' or '(' .. cursor, '-', 'COUNT', scan)
local page, last = {}, false
for _, entry in ipairs(entries) do
  if #page == limit then return call.answer(last, page) end
  last = entry[1]
  local row = cmsgpack.unpack(entry[2][2])
  if destinationId == '' or row[1] == destinationId then page[#page + 1] = { entry[1], unpack(row) } end
end
return call.answer(#entries == scan and last, page)
