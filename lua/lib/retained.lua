--- @registry retained
--- What retention removes, and how; added by each room's _retain.lua.
--- `<room>:<kind>`(id, at): removes a record whose retention period is over. It has left the list of finished records; `at`
--- is the time it finished. May return the number of records it removed.
--- events[type](aggregateId): removes the record that an event of this type is about, once it is older than the plan's window.
--- steps[name](through, maxRecords, windowMs): removes at most `maxRecords` records with a retention period of their own,
--- which started at `through` or before; windowMs: how long finished work is kept until then. Returns whether there may be
--- more.
local retained = { events = {}, steps = {} }
