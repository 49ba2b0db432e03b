--- Makes what is due in one organization real, in the order of its moments, at most `maxChanges` of them. Replies with
--- the moment of this sweep, the next due moment (or ''), whether more is due already and how many changes it made. Each
--- room's _expire.lua registers what its timers do; a timer is spent before it acts, so an action may arm it anew. An
--- action of more than one change is told how many it may make and whether it is the first, and returns how many it made.
--- @args maxChanges
--- @reply now nextDue more changes
--- @include "lib/clock"
--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- @include "lib/due"
--- @include "org/_org"
--- @include "*/_expire"

local changes, limit = 0, tonumber(maxChanges)
local head

--- What was gathered for one space is written before the next one's turn.
local function turnTo(nextSpaceId)
  if spaceId ~= '' then
    count.write()
    count.begin()
    journal.publish()
  end
  spaceId = nextSpaceId
end

spaceId = ''
repeat
  head = redis.call('ZRANGE', keys.timers(), 0, 0, 'WITHSCORES')
  if not head[1] or tonumber(head[2]) > now or changes >= limit then break end
  local kind, itsSpaceId, id = string.match(head[1], '^(%w+:%w+):([^:]+):(.*)$')
  redis.call('ZREM', keys.timers(), head[1])
  if itsSpaceId ~= spaceId then turnTo(itsSpaceId) end
  -- A kind that this version does not know (the store served a later one) is no reason to stop the others.
  local act = due[kind]
  changes = changes + (act and act(id, tonumber(head[2]), limit - changes, changes == 0) or 1)
until false
turnTo('')
-- An organization that is listed but not yet made must not come to be through its first sweep.
local record = org.load('plan', 'nextDue')
if record and record.nextDue ~= tonumber(head[2]) then redis.call('HSET', keys.org(), 'nextDue', head[2] or '') end
return { now = now, nextDue = head[2] or '', more = head[1] and tonumber(head[2]) <= now and 1 or 0, changes = changes }
