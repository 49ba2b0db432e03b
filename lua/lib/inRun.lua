--- @registry inRun
--- The lists of the run view, by name; each room's _run.lua adds its own.
--- A list of records has `index(scopeId)`, the key of a sorted set of a scope's ids (all with one score), or
--- `ids(scopeId)`, a list of them.
--- `row(id)` returns the row of one record, the number of further records in it, if any, and false if part of it is missing;
--- nil if nothing of the record can be read.
--- `ahead(ids, from)` is called with the ids before their first row is asked for.
--- Sums have `total(scopeIds)` instead.
--- `holds(scopeId)` says whether the scope must be kept, if the index does not show it.
local inRun = {}
