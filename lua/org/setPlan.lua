--- Puts an organization on another plan; what is in use stays, stored limits are cut to the plan when read.
--- `detail` is the audit's.
--- @args org plan operations agents spaces runs tasks apiKeys rpm retentionDays detail
--- @include "lib/refuse"
--- @include "lib/audit"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
redis.call('HSET', keys.org(), 'plan', plan, 'operations', operations, 'agents', agents, 'spaces', spaces, 'runs', runs,
  'tasks', tasks, 'keys', apiKeys, 'rpm', rpm, 'retentionDays', retentionDays)
audit('org.plan_set', 'cli', org, detail)
return { now }
