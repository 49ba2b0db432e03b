--- Creates a space with the given limits; `detail` is the audit's. With `first` = '1' only as the organization's
--- first: where there is one, it answers the oldest, so that processes that start together make one space.
--- @args name requestsPerMinute maxBacklog maxPayloadBytes maxLeaseSeconds maxPendingWaiters maxArmedTimers tail first detail
--- @include "lib/refuse"
--- @include "lib/id"
--- @include "lib/audit"
local plan, limit, used = unpack(redis.call('HMGET', keys.org(), 'plan', 'spaces', 'usedSpaces'))
if not plan then refuse('ORG_NOT_FOUND') end
local spaceId = first == '1' and redis.call('ZRANGE', keys.spaces(), 0, 0)[1]
if spaceId then return { spaceId, redis.call('HGET', keys.space(), 'createdAt') } end
if tonumber(limit) and (tonumber(used) or 0) >= tonumber(limit) then refuse('ENTITLEMENT_EXCEEDED', 'spaces ' .. plan .. ' ' .. limit) end

spaceId = newId(tail)
-- What every request reads comes first: a small hash is searched from its beginning.
redis.call('HSET', keys.space(), 'requestsPerMinute', requestsPerMinute, 'requestsMinute', 0, 'usedRequests', 0,
  'messages:READY', 0, 'messages:CLAIMED', 0, 'nextLease', '', 'maxBacklog', maxBacklog, 'maxPayloadBytes', maxPayloadBytes,
  'maxArmedTimers', maxArmedTimers, 'timers:ARMED', 0, 'maxLeaseSeconds', maxLeaseSeconds,
  'maxPendingWaiters', maxPendingWaiters, 'name', name, 'createdAt', now)
redis.call('ZADD', keys.spaces(), 0, spaceId)
redis.call('HINCRBY', keys.org(), 'usedSpaces', 1)
audit('space.created', 'cli', spaceId, detail)
return { spaceId, now }
