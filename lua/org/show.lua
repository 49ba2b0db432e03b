--- An organization's plan, figures and current usage.
--- @include "lib/refuse"
--- @include "lib/clock"
--- @include "lib/date"
local record = redis.call('HMGET', keys.org(), 'plan', 'operations', 'agents', 'spaces', 'runs', 'tasks', 'keys', 'rpm',
  'retentionDays', 'createdAt', 'usedAgents', 'usedSpaces', 'usedRuns', 'usedTasks', 'usedKeys')
if not record[1] then refuse('ORG_NOT_FOUND') end
local rates = redis.call('HMGET', keys.org(), 'operationsMonth', 'usedOperations', 'requestsMinute', 'usedRequests')
record[16] = rates[1] == string.sub(dateOf(now), 1, 7) and rates[2] or '0'
record[17] = tonumber(rates[3]) == math.floor(now / 60000) and rates[4] or '0'
return record
