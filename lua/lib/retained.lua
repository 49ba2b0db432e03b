--- @registry retained
--- How retention removes records; each room adds its own, mostly in its _retain.lua.
--- `<room>:<kind>`(id, at): removes a record at the end of its retention period. It has already left the list of finished
--- records; `at` is the time it finished. May return the number of records removed.
--- events[type](aggregateId, at): removes the record of an event of this type and time once the event is older than the
--- plan's window. A record that has finished again since then stays, as a later event will remove it.
--- steps[name](through, maxRecords, windowMs): removes at most `maxRecords` records whose own retention period started
--- at `through` or before. windowMs: the plan's window, after which finished messages are removed. Returns whether
--- there may be more.
local retained = { events = {}, steps = {} }
