--- Changes an organization's plan. Existing use is kept; limits of spaces above the plan are capped on reading. detail:
--- for the audit trail.
--- @args plan operations agents spaces runs tasks apiKeys rpm retentionDays retainedBytes org detail
--- @reply
--- @include lib/audit lib/refuse lib/unit org/_plan
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
storePlan({ plan = plan, operations = operations, agents = agents, spaces = spaces, runs = runs, tasks = tasks,
  keys = apiKeys, rpm = rpm, retentionDays = retentionDays,
  retainedBytes = retainedBytes })
audit('org.plan_set', 'cli', org, detail)
unit.write()
