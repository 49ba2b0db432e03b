--- @registry due
--- What due timers do, by `<room>:<kind>`: each room's _expire.lua adds its own.
local due = {}
