--- @registry gauges
--- @include lib/clock
--- Figures of a space that are not counters of its record, by name, added by each room's _gauges.lua: functions that return
--- the figure or false. A function may take the maximum number of candidates to look at.
local gauges = {}

function gauges.now()
  return now
end
