--- The oldest expired segment of packed messages of a kind: MESSAGES expire after the plan's window, TOMBSTONES
--- max(window, 30 days) later. Nothing if there is none. skipped: how many older ones to pass over as unreadable.
--- @args spaceId requestId kind skipped
--- @reply entry key
--- @include lib/clock lib/space mailbox/_packed retention/_window
if not keyspace.find() then return nil end
local shorter, longer = window.ofPlan()
local through = now - shorter - (kind == 'MESSAGES' and 0 or longer)
if through < 0 then return nil end
local entry = redis.call('ZRANGE', keys.messageSegmentEnds(kind), '-inf', string.format('%d', through), 'BYSCORE',
  'LIMIT', skipped, 1)[1]
if not entry then return nil end
return { entry = entry, key = packed.key(packed.described(entry)) }
