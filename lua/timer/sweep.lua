--- Runs the due timers of one organization, up to `maxChanges` changes. Replies with the moment of this sweep, the next
--- due moment (or '') of these and background timers, whether more is due already, and the number of changes.
--- @args spaceId requestId maxChanges
--- @reply now nextDue more changes
--- @include lib/clock lib/records lib/sorted lib/space lib/unit org/_org timer/_sweep
-- Workers run background timers within a second.
local recheckMs = 1000
local at, done = sweep.run(keys.timers(), tonumber(maxChanges), sorted.first)
-- Don't create the record of an organization that is listed but not created yet.
local record = org.load('plan', 'nextDue')
if record and record.nextDue ~= (at or false) then
  records.set(record, 'nextDue', at and string.format('%d', at) or '')
end
unit.write()
-- A timer may have armed one in the background. If that is due already, it may be running, or failing: it is announced
-- for a second later.
local _, inBackground = sorted.first(keys.backgroundTimers())
return sweep.reply(at, done, inBackground and math.max(inBackground, now + recheckMs))
