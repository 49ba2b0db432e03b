--- Lists an organization's spaces, oldest first, after the space `cursor` ('' for the first page).
--- @full
--- @args cursor limit
--- @reply spaces:space[]
--- @include "lib/refuse"
--- @include "space/_space"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
local spaces, last = {}, cursor == '' and 0 or redis.call('ZSCORE', keys.spaces(), cursor)
for i, id in ipairs(redis.call('ZRANGE', keys.spaces(), '(' .. last, '+inf', 'BYSCORE', 'LIMIT', 0, limit)) do
  spaceId = id
  spaces[i] = space.read()
end
return { spaces = spaces }
