--- Creates a space with the given limits, `maxBacklog 1000 …`; `detail` is the audit's. With `first` = '1' only as the
--- organization's first: where there is one, it answers the oldest, so that processes that start together make one space.
--- @args name limitValues tail first detail
--- @reply space:space
--- @include "lib/refuse"
--- @include "lib/id"
--- @include "lib/audit"
--- @include "org/_org"
--- @include "space/_space"
local owner = org.load('plan', 'spaces', 'usedSpaces') or refuse('ORG_NOT_FOUND')
local most = tonumber(owner.spaces)
spaceId = first == '1' and redis.call('ZRANGE', keys.spaces(), 0, 0)[1]
if spaceId then return { space = space.read() } end
if most and owner.usedSpaces >= most then refuse('ENTITLEMENT_EXCEEDED', 'spaces ' .. owner.plan .. ' ' .. owner.spaces) end

spaceId = newId(tail)
local number = redis.call('HINCRBY', keys.org(), 'lastSpace', 1)
-- What every request reads comes first: a small hash is searched from its beginning.
local record = { 'number', number, 'requestsPerMinute', '', 'requestsMinute', 0, 'usedRequests', 0, 'messages:READY', 0,
  'messages:CLAIMED', 0, 'nextLease', '', 'timers:ARMED', 0 }
for word in string.gmatch(limitValues, '%w+') do record[#record + 1] = word end
redis.call('HSET', keys.space(), unpack(record))
redis.call('HSET', keys.space(), 'name', name, 'createdAt', now)
redis.call('ZADD', keys.spaces(), number, spaceId)
redis.call('HINCRBY', keys.org(), 'usedSpaces', 1)
audit('space.created', 'cli', spaceId, detail)
return { space = space.read() }
