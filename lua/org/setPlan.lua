--- Changes an organization's plan. What is in use stays in use; limits of spaces above the plan are capped when they are
--- read. detail: for the audit trail.
--- @args org detail
--- @reply
--- @include "lib/refuse"
--- @include "lib/audit"
--- @include "org/_plan"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
storePlan()
audit('org.plan_set', 'cli', org, detail)
unit.write()
