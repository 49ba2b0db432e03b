--- Lists barriers in the states `,A,B,` ('' for all), newest first. A page scans at most 1,000 records, so it may be
--- short although more follow. The next cursor is the last id scanned.
--- @request read
--- @args states limit cursor
--- @reply nextCursor barriers:barrier[]
--- @include lib/call lib/page barrier/_barrier
limit = tonumber(limit)
local maxLooks = states == '' and limit or 1000

local function wanted(id)
  local record = barrier.read(id)
  return among(record.state, states) and record or nil
end

local barriers, nextCursor = sift(idsBefore(keys.barriers(), cursor, maxLooks + 1), limit, maxLooks, wanted)
return call.answer({ nextCursor = nextCursor, barriers = barriers })
