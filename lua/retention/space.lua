--- One step of what goes in a space: what finished, found by walking the journal, and what is left of it; entries of the
--- journal; usage records; what requests were answered. At most `most` of each.
--- @args most
--- @reply more
--- @include "lib/space"
--- @include "lib/unit"
--- @include "lib/usage"
--- @include "lib/retained"
--- @include "*/_retain"
--- @include "space/_space"
--- @include "retention/_window"
--- @include "retention/_journal"
--- @include "retention/_usage"
--- @include "retention/_idempotency"
most = tonumber(most)
local shorter, longer = window.ofPlan()
local record = space.load('usageDay', 'retainedThrough', 'idempotencyFrom', 'createdAt', 'number')
local usageDay = record.usageDay
keyspace.enter(record.number)

local more = walkJournal(record, now - shorter, most)
for _, step in pairs(retained.steps) do more = step(now - longer, most, shorter) or more end
-- No further than it has been walked.
if not more then more = trimJournal(now - longer, most) end
more = removeIdempotency(record.idempotencyFrom or math.floor(record.createdAt / 86400000), most) or more
more = removeUsage(math.floor(now / 86400000) - window.usageDays, usageDay, most) or more
unit.write()
return { more = more and 1 or 0 }
