--- A page of an organization's spaces, oldest first, after the space `cursor` ('' for the first page).
--- @args cursor limit
--- @include "lib/refuse"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local list = {}
for _, spaceId in ipairs(redis.call('ZRANGE', keys.spaces(), cursor == '' and '-' or '(' .. cursor, '+', 'BYLEX', 'LIMIT', 0, limit)) do
  local record = redis.call('HMGET', keys.space(), 'name', 'createdAt')
  list[#list + 1] = { spaceId, record[1], record[2] }
end
return list
