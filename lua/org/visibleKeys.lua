--- The keys with no more rights than the caller's, newest first. A page looks at no more than 1,000, so it may be short
--- although more follow. The next cursor is the last id looked at.
--- @request org
--- @args limit cursor
--- @reply nextCursor keys:apiKey[]
--- @include lib/call lib/caller org/_apiKey
limit = tonumber(limit)
local scanLimit, own = 1000, apiKey.load(caller.digest())
local ids, nextCursor = apiKey.page(scanLimit, cursor)
local found = {}
for i, keyId in ipairs(ids) do
  local record = apiKey.find(keyId)
  if not apiKey.beyond(record, own) then found[#found + 1] = record end
  if #found == limit then
    nextCursor = (ids[i + 1] or nextCursor) and keyId
    break
  end
end
return call.answer({ nextCursor = nextCursor, keys = found })
