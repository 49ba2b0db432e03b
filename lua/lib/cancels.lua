--- @registry cancels
--- The records of each room that the cancel of a run stops, by their name in the answer; each room's _cancel.lua adds its
--- own.
--- `total`: the counter in the record of the scope.
--- `ids(scopeId, last, maxRecords)`: ids of that scope alone, newest first, after `last` ('': from the start).
--- `stop(id, cancel)`: stops a record if it is live, and returns how many records that changed.
--- `isLive`: the scope's counter `live` includes these records, so it shows when none are left.
local cancels = {}
