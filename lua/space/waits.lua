--- What waits in the space and what is held: WAITING waiters (oldest first), grants whose window is not over (the next
--- to end first), claims (the next to end first), READY tasks (oldest first); at most `most` of each, and whether there
--- is more of any.
--- @args most
--- @include "lib/call"
--- @include "mailbox/_waits"
--- @include "allowance/_allowance"
call.read()
most = tonumber(most)
local waiters, grants, truncated = {}, {}, false

--- At most `most` of the members found; one more than that was asked for.
local function cut(ids)
  if #ids > most then
    truncated, ids[#ids] = true, nil
  end
  return ids
end

local coolingUntil = {}
for i, id in ipairs(cut(redis.call('ZRANGE', keys.waitingWaiters(), 0, most))) do
  local row = redis.call('HMGET', keys.waiter(id), 'allowanceId', 'scopeId', 'holder', 'units', 'createdAt', 'expiresAt')
  local allowanceId = row[1]
  local position = redis.call('ZRANK', keys.liveWaiters(allowanceId), id) + 1
  if position == 1 then coolingUntil[allowanceId] = tonumber(redis.call('HGET', keys.allowance(allowanceId), 'cooldownUntil')) end
  row[7], row[8] = position, position > 1 and 'HEAD_OF_LINE' or coolingUntil[allowanceId] > now and 'COOLDOWN' or 'WINDOW'
  row[9] = id
  waiters[i] = row
end
for i, id in ipairs(cut(redis.call('ZRANGE', keys.heldGrants(), '(' .. nowText, '+inf', 'BYSCORE', 'LIMIT', 0, most + 1))) do
  local row = redis.call('HMGET', keys.waiter(id), 'allowanceId', 'scopeId', 'holder', 'units')
  row[5], row[6] = redis.call('ZSCORE', keys.heldGrants(), id), id
  grants[i] = row
end
local claims, moreClaims = waiting.heldClaims(most)
local tasks, moreTasks = waiting.waitingTasks(most)
return call.answer(now, waiters, grants, claims, tasks, (truncated or moreClaims or moreTasks) and 1 or 0)
