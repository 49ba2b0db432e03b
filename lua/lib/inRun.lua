--- @registry inRun
--- What the view of a run shows of each room, by the name that it has there; each room's _run.lua adds its own.
--- Things that belong to one very scope: `index(scopeId)`, the key of a sorted set of their ids (all of one score), or
--- `ids(scopeId)`, a list of them; `row(id)`, what is shown of one and, where it brings others along, how many. What is
--- only added up: `total(scopeIds)`, what is shown. `holds(scopeId)`: whether the scope may not go yet, where the index
--- does not tell.
local inRun = {}
