--- @registry due
--- Handlers of due timers by `<room>:<kind>`, added by each room, mostly in its _expire.lua.
local due = {}
