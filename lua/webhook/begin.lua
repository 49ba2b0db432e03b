--- Opens the next attempt of a delivery: replies with the moment, what to send where, the secrets that sign and the
--- attempt's number; with nothing when there is nothing to do or somebody is at it. An attempt that was opened and not
--- closed in its time was its worker's last: it is recorded as INTERRUPTED.
--- @args destinationId entryId
--- @include "lib/clock"
--- @include "lib/count"
--- @include "webhook/_delivery"
local target = redis.call('HMGET', keys.destination(destinationId), 'state', 'url', 'signingSecret', 'previousSecret', 'previousSecretUntil')
if target[1] ~= 'ACTIVE' or not redis.call('ZSCORE', keys.unfinished(destinationId), entryId) then return {} end
local made, begunAt = string.match(redis.call('HGET', keys.attempts(destinationId), entryId) or '0', '^(%d+) ?(%d*)$')
made = tonumber(made)
if begunAt ~= '' and now < begunAt + delivery.guardMs then return {} end

local entry = redis.call('XRANGE', keys.events(), entryId, entryId)[1]
local open = entry ~= nil
if not open then delivery.finish(destinationId, entryId, 'EXHAUSTED') end
if open and begunAt ~= '' then
  made = made + 1
  open = delivery.failed(destinationId, entryId, entry[2][1], made, '', 'INTERRUPTED', now - begunAt, begunAt, 0, 1) ~= ''
end
if open then
  local guard = string.format('%d', now + delivery.guardMs)
  redis.call('HSET', keys.attempts(destinationId), entryId, made .. ' ' .. nowText)
  redis.call('ZADD', keys.unfinished(destinationId), guard, entryId)
  redis.call('ZADD', keys.running(destinationId), guard, entryId)
end
count.write()
journal.publish()
if not open then return {} end
local both = target[5] and now < tonumber(target[5])
return { nowText, target[2], target[3], both and target[4] or false, made + 1, entry }
