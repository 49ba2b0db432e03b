--- @registry gauges
--- @include "lib/clock"
--- Figures of a space that are no counters of its record, by name; each room's _gauges.lua adds its own: a function that
--- returns the figure, false for none. It may take how many of several candidates to look at.
local gauges = {}

function gauges.now()
  return now
end
