--- Runs the due timers of one organization in order, with about `maxChanges` changes at most. nextDue: the time of the next
--- timer, or ''; more: whether it is due already. Handlers are registered by each room's _expire.lua. A timer is removed
--- before its handler runs, so the handler may arm it again. A handler that can make several changes gets the number it
--- may make and whether it is the first of the sweep, and returns the number it made.
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
  -- A kind unknown to this version (written by a later one) must not stop the others.
  local act = spaceNumber and due[kind]
  done = done + (act and act(id, at, limit - done, done == 0) or 1)
until false
-- An organization that is listed but not created yet must not be created by a sweep.
local record = org.load('plan', 'nextDue')
local nextDue = at and string.format('%d', at) or ''
if record and record.nextDue ~= (at or false) then records.set(record, 'nextDue', nextDue) end
unit.write()
return { now = now, nextDue = nextDue, more = at and at <= now and 1 or 0, changes = done }
