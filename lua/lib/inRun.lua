--- @registry inRun
--- What the run view shows of each room, by the name of its list; added by each room's _run.lua.
--- Records that belong to a scope have `index(scopeId)`, the key of a sorted set of their ids (all with one score), or
--- `ids(scopeId)`, a list of them; and `row(id)`, the row of one record, the number of further records in it, if any, and false
--- if some of it is missing; nil if the store has damaged all of it.
--- `ahead(ids, from)` hears which rows are wanted before the first one.
--- Sums have `total(scopeIds)` instead. `holds(scopeId)` says whether the scope must be kept, where the index does not.
local inRun = {}
