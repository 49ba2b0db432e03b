--- Creates an organization with the figures of its plan, each a number or `unlimited`; `detail` is the audit's.
--- @args org plan operations agents spaces runs tasks apiKeys rpm retentionDays epoch detail
--- @include "lib/refuse"
--- @include "lib/audit"
if redis.call('EXISTS', keys.org()) == 1 then refuse('ORG_EXISTS') end
redis.call('HSET', keys.org(), 'plan', plan, 'operations', operations, 'agents', agents, 'spaces', spaces, 'runs', runs,
  'tasks', tasks, 'keys', apiKeys, 'rpm', rpm, 'retentionDays', retentionDays, 'epoch', epoch, 'createdAt', now)
audit('org.created', 'cli', org, detail)
return { now }
