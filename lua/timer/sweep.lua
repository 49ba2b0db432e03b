--- Makes due timers of one organization real, at most `maxChanges` changes. Replies with the moment of this sweep, the next
--- due moment (or ''), whether more is due already and how many changes it made.
--- @args spaceId requestId maxChanges
--- @reply now nextDue more changes
--- @include lib/records lib/sorted lib/space lib/unit org/_org timer/_sweep

local at, done = sweep.run(keys.timers(), tonumber(maxChanges), sorted.first)
-- An organization that is listed but not yet made must not come to be through its first sweep.
local record = org.load('plan', 'nextDue')
if record and record.nextDue ~= (at or false) then records.set(record, 'nextDue', at and string.format('%d', at) or '') end
unit.write()
return sweep.reply(at, done)
