--- Creates an organization with its plan's limits, each a number or `unlimited`. detail: for the audit trail.
--- @args plan operations agents spaces runs tasks apiKeys rpm retentionDays retainedBytes org epoch detail
--- @reply
--- @include lib/audit lib/clock lib/records lib/refuse lib/unit org/_plan
if redis.call('EXISTS', keys.org()) == 1 then refuse('ORG_EXISTS') end
storePlan({ plan = plan, operations = operations, agents = agents, spaces = spaces, runs = runs, tasks = tasks,
  keys = apiKeys, rpm = rpm, retentionDays = retentionDays,
  retainedBytes = retainedBytes })
records.put(keys.org(), 'epoch', epoch)
records.put(keys.org(), 'createdAt', now)
audit('org.created', 'cli', org, detail)
unit.write()
