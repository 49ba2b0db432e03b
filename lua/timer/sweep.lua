--- Makes what is due in one organization real, in the order of its moments, at most `maxChanges` of them. Replies with
--- the moment of this sweep, the next due moment (or ''), whether more is due already and how many changes it made. Each
--- room's _expire.lua registers what its timers do; a timer is spent before it acts, so an action may arm it anew. An
--- action of more than one change is told how many it may make and whether it is the first, and returns how many it made.
--- @args maxChanges
--- @reply now nextDue more changes
--- @include "lib/clock"
--- @include "lib/unit"
--- @include "lib/timer"
--- @include "lib/due"
--- @include "org/_org"
--- @include "*/_expire"

local done, limit = 0, tonumber(maxChanges)
local member, at

repeat
  member, at = sorted.first(keys.timers())
  at = tonumber(at)
  if not member or at > now or done >= limit then break end
  local kind, number, id = string.match(member, '^(%w+:%w+):([^:]+):(.*)$')
  if number ~= spaceNumber then
    unit.write()
    keyspace.turnTo(number)
  end
  sorted.remove(keys.timers(), member)
  -- A kind that this version does not know (the store served a later one) is no reason to stop the others.
  local act = spaceNumber and due[kind]
  done = done + (act and act(id, at, limit - done, done == 0) or 1)
until false
-- An organization that is listed but not yet made must not come to be through its first sweep.
local record = org.load('plan', 'nextDue')
local nextDue = at and string.format('%d', at) or ''
if record and record.nextDue ~= (at or false) then records.set(record, 'nextDue', nextDue) end
unit.write()
return { now = now, nextDue = nextDue, more = at and at <= now and 1 or 0, changes = done }
