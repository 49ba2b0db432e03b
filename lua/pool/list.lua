--- Lists pools, newest first, or only the one with this name. The next cursor is the last id.
--- @request read
--- @args limit cursor name
--- @reply nextCursor pools:pool[]
--- @include lib/call lib/page pool/_pool
local ids, nextCursor
if name == '' then
  ids, nextCursor = page(keys.pools(), limit, cursor)
else
  ids = { redis.call('HGET', keys.poolNames(), name) or nil }
end
local pools = {}
for i, poolId in ipairs(ids) do pools[i] = pool.view(poolId) end
return call.answer({ nextCursor = nextCursor or false, pools = pools })
