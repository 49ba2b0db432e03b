--- Lists barriers, newest first, of the states `,A,B,` ('' for all). A page scans at most 1,000 records, so it may be short
--- though there are more; the next cursor is the last id scanned.
--- @request read
--- @args states limit cursor
--- @reply nextCursor barriers:barrier[]
--- @include lib/call barrier/_barrier
limit = tonumber(limit)
local scanLimit = states == '' and limit or 1000
local ids = redis.call('ZRANGE', keys.barriers(), cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV',
  'LIMIT', 0, scanLimit + 1)
local page, last, more = {}, false, false
for i, barrierId in ipairs(ids) do
  if #page == limit or i > scanLimit then
    more = true
    break
  end
  last = barrierId
  local record = barrier.read(barrierId)
  if states == '' or string.find(states, ',' .. record.state .. ',', 1, true) then
    page[#page + 1] = record
  end
end
return call.answer({ nextCursor = more and last, barriers = page })
