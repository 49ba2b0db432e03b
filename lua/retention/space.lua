--- One step of retention in a space, at most `maxRecords` of each kind: finished messages, found by walking the
--- journal, and their tombstones; finished holds; delivery attempts; journal entries; usage records; idempotency
--- records. opened: packed events that Node has opened.
--- @args spaceId requestId maxRecords
--- @long opened
--- @reply more
--- @include lib/clock lib/hooks lib/space lib/unit retention/_idempotency retention/_journal retention/_usage
--- @include retention/_window space/_space
maxRecords = tonumber(maxRecords)
local shorter, longer = window.ofPlan()
local record = space.load(spaceId, 'usageDay', 'retainedThrough', 'trimmedThrough', 'packedThrough', 'idempotencyFrom',
  'createdAt', 'number')
local usageDay = record.usageDay
keyspace.enter(record.number)

local more = walkJournal(record, now - shorter, maxRecords, opened)
for _, step in pairs(retained.steps) do more = step(now - longer, maxRecords, shorter) or more end
-- The journal is trimmed only after it has been walked.
if not more then more = trimJournal(now - longer, maxRecords) end
more = removeIdempotency(record.idempotencyFrom or math.floor(record.createdAt / 86400000), maxRecords) or more
more = removeUsage(math.floor(now / 86400000) - window.usageDays, usageDay, maxRecords) or more
unit.write()
return { more = more and 1 or 0 }
