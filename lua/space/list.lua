--- Lists an organization's spaces, oldest first, after the space `cursor` ('' for the first page).
--- @full
--- @args spaceId requestId cursor limit
--- @reply spaces:space[]
--- @include lib/refuse lib/space space/_space
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local spaces, last = {}, cursor == '' and 0 or redis.call('ZSCORE', keys.spaces(), cursor)
for i, id in ipairs(redis.call('ZRANGE', keys.spaces(), '(' .. last, '+inf', 'BYSCORE', 'LIMIT', 0, limit)) do
  spaces[i] = space.read(id)
end
return { spaces = spaces }
