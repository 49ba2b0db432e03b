--- Puts an organization on another plan; what is in use stays, stored limits are cut to the plan when read.
--- `detail` is the audit's.
--- @args org detail
--- @reply
--- @include "lib/refuse"
--- @include "lib/audit"
--- @include "org/_plan"
if redis.call('EXISTS', keys.org()) == 0 then refuse('ORG_NOT_FOUND') end
storePlan()
audit('org.plan_set', 'cli', org, detail)
unit.write()
