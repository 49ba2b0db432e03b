--- @registry waiting
--- What waits in a space or is held there, by the name of its list in /ops/waits; each room's _waits.lua adds a function
--- of its own: it takes how many to show at most, and returns their rows and whether there are more.
local waiting = {}
