--- Lists attempts, newest first, of all destinations or of one. A page for one destination scans at most 1,000
--- attempts, so it may be short although more follow. nextCursor: the position to continue from.
--- @request read
--- @args limit cursor destinationId
--- @reply nextCursor deliveries:delivery[]
--- @include lib/call webhook/_row
limit = tonumber(limit)
local scan = destinationId == '' and limit + 1 or 1000
local entries = redis.call('XREVRANGE', keys.deliveries(), cursor == '' and '+' or '(' .. cursor, '-', 'COUNT', scan)
local found, last, more = {}, false, #entries == scan
for _, entry in ipairs(entries) do
  if #found == limit then
    more = true
    break
  end
  last = entry[1]
  local record = row.unpack(entry)
  if destinationId == '' or record.destinationId == destinationId then
    record.id = row.id(last)
    found[#found + 1] = record
  end
end
return call.answer({ nextCursor = more and last, deliveries = found })
