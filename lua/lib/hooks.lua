--- @export rowsOf
--- @registry due retained withScope cancels keptByCancel inRun gauges freed awaited waiting
--- @include lib/clock
--- All that a room may add to the work of others, each a table of functions.

--- Handlers of due timers by `<room>:<kind>`, added by each room, mostly in its _expire.lua.
local due = {}

--- How retention removes records; each room adds its own, mostly in its _retain.lua.
--- `<room>:<kind>`(id, at): removes a record at the end of its retention period. It has already left the list of
--- finished records; `at` is the time it finished. May return the number of records removed.
--- events[type](aggregateId, at): removes the record of an event of this type and time once the event is older than the
--- plan's window. A record that has finished again since then stays, as a later event will remove it.
--- steps[name](through, maxRecords, windowMs): removes at most `maxRecords` records whose own retention period started
--- at `through` or before. windowMs: the plan's window, after which finished messages are removed. Returns whether
--- there may be more.
local retained = { events = {}, steps = {} }

--- Records that are removed with a scope but do not keep it, by name; each room's _retain.lua adds a function that
--- takes a scopeId and removes that scope's records.
local withScope = {}

--- The records of each room that the cancel of a run stops, by their name in the answer; each room adds
--- its own, mostly in its _cancel.lua.
--- `total`: the counter in the record of the scope.
--- `ids(scopeId, last, maxRecords)`: ids of that scope alone, newest first, after `last` ('': from the start).
--- `stop(id, cancel)`: stops a record if it is live, and returns how many records that changed.
--- `isLive`: the scope's counter `live` includes these records, so it shows when none are left.
local cancels = {}

--- Records that a cancelled run keeps: their counters in the scope's record, by their name in the answer. Each room's
--- _stays.lua adds its own.
local keptByCancel = {}

--- The lists of the run view, by name; each room's _hooks.lua adds its own.
--- A list of records has `index(scopeId)`, the key of a sorted set of a scope's ids (all with one score), or
--- `ids(scopeId)`, a list of them.
--- `row(id)` returns the row of one record, the number of further records in it, if any, and false if part of it is
--- missing; nil if nothing of the record can be read.
--- `ahead(ids, from)` is called with the ids before their first row is asked for.
--- Sums have `total(scopeIds)` instead.
--- `holds(scopeId)` says whether the scope must be kept, if the index does not show it.
local inRun = {}

--- Figures of a space that its record does not count, by name; each room's _hooks.lua adds its own. Each is a function
--- that returns the figure or false. It may take the maximum number of candidates to look at.
local gauges = {}

function gauges.now()
  return now
end

--- Called when units become free. mailbox/_parked adds:
---
--- units(kind, id, at): units of a pool (kind POOL) or an allowance (ALLOWANCE) are free since `at` (nil: now), and its
--- own queue is empty.
local freed = {}

--- Called when something that messages may wait for may be over. mailbox/_waits adds:
---
--- scope(scopeId): nothing is live in it and below any more, or it was cancelled.
local awaited = {}

--- The lists of /ops/waits by name; each room's _hooks.lua adds its own. Each is a function that takes the maximum
--- number of rows and returns the rows and whether there are more.
local waiting = {}

--- Rows of the first `maxRows` ids, and whether there are more.
local function rowsOf(ids, maxRows, row)
  local list = {}
  for i = 1, math.min(#ids, maxRows) do list[i] = row(ids[i]) end
  return list, #ids > maxRows
end
