--- A part of an organization's API keys, including revoked ones. The first cursor is '0', and so is nextCursor at the end.
--- A key may be returned twice, as by any SCAN.
--- @args cursor
--- @reply nextCursor keys:apiKey[]
--- @include lib/refuse org/_apiKey
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local nextCursor, entries = unpack(redis.call('HSCAN', keys.apiKeys(), cursor, 'COUNT', 200))
local list = {}
for i = 2, #entries, 2 do list[#list + 1] = apiKey.load(entries[i]) end
return { nextCursor = nextCursor, keys = list }
