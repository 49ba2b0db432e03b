--- Creates an organization with the figures of its plan, each a number or `unlimited`. detail: for the audit trail.
--- @args org epoch detail
--- @reply
--- @include "lib/refuse"
--- @include "lib/audit"
--- @include "org/_plan"
if redis.call('EXISTS', keys.org()) == 1 then refuse('ORG_EXISTS') end
storePlan()
records.put(keys.org(), 'epoch', epoch)
records.put(keys.org(), 'createdAt', now)
audit('org.created', 'cli', org, detail)
unit.write()
