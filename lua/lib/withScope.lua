--- @registry withScope
--- Records that are removed with a scope but do not keep it, by name; each room's _retain.lua adds a function that
--- takes a scopeId and removes that scope's records.
local withScope = {}
