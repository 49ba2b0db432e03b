--- Changes an organization's plan. What is in use stays in use; limits of spaces above the plan are capped when they are
--- read. detail: for the audit trail.
--- @args plan operations agents spaces runs tasks apiKeys rpm retentionDays org detail
--- @reply
--- @include lib/audit lib/refuse lib/unit org/_plan
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
storePlan({ plan = plan, operations = operations, agents = agents, spaces = spaces, runs = runs, tasks = tasks, keys = apiKeys,
  rpm = rpm, retentionDays = retentionDays })
audit('org.plan_set', 'cli', org, detail)
unit.write()
