--- @registry cancels
--- What a cancelled run loses of each room, by the name that it has in the answer; each room's _cancel.lua adds its own.
--- `total`: the counter in the record of the scope. `ids(scopeId, last, maxRecords)`: of that very scope, newest first, those
--- behind `last` ('': from the first on). `stop(id, cancel)`: ends one if it is live, and returns how many records have
--- changed by that. `isLive`: the `live` of the scope counts it, which says when there are no more.
local cancels = {}
