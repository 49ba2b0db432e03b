--- @registry withScope
--- Records that go with a scope but do not keep it, by name; each room's _retain.lua adds a function that removes those of a
--- scopeId.
local withScope = {}
