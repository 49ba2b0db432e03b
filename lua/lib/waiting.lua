--- @registry waiting
--- The lists of /ops/waits by name, added by each room's _waits.lua: functions that take the maximum number of rows and
--- return the rows and whether there are more.
local waiting = {}
