--- @registry gauges
--- @include lib/clock
--- Figures of a space that its record does not count, by name; each room's _gauges.lua adds its own. Each is a function that
--- returns the figure or false. It may take the maximum number of candidates to look at.
local gauges = {}

function gauges.now()
  return now
end
