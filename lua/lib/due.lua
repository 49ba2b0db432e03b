--- @registry due
--- Handlers of due timers by `<room>:<kind>`, added by each room's _expire.lua.
local due = {}
