--- One step of what goes in a space: finished messages, found by walking the journal; tombstones; entries of the
--- journal; usage records; what requests were answered. At most `most` of each.
--- @args most
--- @reply more
--- @include "lib/space"
--- @include "lib/count"
--- @include "lib/usage"
--- @include "mailbox/_retain"
--- @include "retention/_window"
--- @include "retention/_journal"
--- @include "retention/_usage"
--- @include "retention/_idempotency"
most = tonumber(most)
local finished, keep = window.ofPlan()
local usageDay, retainedThrough, idempotencyFrom, createdAt = unpack(redis.call('HMGET', keys.space(), 'usageDay',
  'retainedThrough', 'idempotencyFrom', 'createdAt'))

local more = walkJournal(retainedThrough, now - finished, most, usageDay)
more = message.removeTombstones(now - finished - keep, most) or more
-- No further than the messages have been looked for.
if not more then more = trimJournal(now - keep, most) end
local _, moreRows = trimStream(keys.deliveries(), now - keep, most)
more = moreRows or more
more = removeIdempotency(tonumber(idempotencyFrom) or math.floor(createdAt / 86400000), most) or more
more = removeUsage(math.floor(now / 86400000) - window.usageDays, tonumber(usageDay), most) or more
count.write()
return { more = more and 1 or 0 }
