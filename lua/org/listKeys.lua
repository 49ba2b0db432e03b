--- A page of an organization's API keys, newest first, with expired and revoked ones. The next cursor is the page's
--- last id.
--- @args limit cursor
--- @reply nextCursor keys:apiKey[]
--- @include lib/refuse org/_apiKey
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local ids, nextCursor = apiKey.page(limit, cursor)
for i, keyId in ipairs(ids) do ids[i] = apiKey.find(keyId) end
return { nextCursor = nextCursor, keys = ids }
