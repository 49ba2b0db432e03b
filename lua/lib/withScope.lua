--- @registry withScope
--- What goes with a scope but does not keep it, by name; added by each room's _retain.lua. `<name>`(scopeId): removes it.
local withScope = {}
