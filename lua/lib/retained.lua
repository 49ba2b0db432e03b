--- @registry retained
--- What retention does; each room's _retain.lua adds its own.
--- `<room>:<kind>`: with a record whose time is over. It is in no list of finished ones any more by then; `at` is the
--- moment it finished. May return how many records of its own it removed.
--- events[type](aggregateId, at): with what an event of this type speaks of, which happened at `at`, once that is longer
--- ago than the plan's window. What has finished again since then is not over yet: a later event speaks of that.
--- steps[name](through, most, window): with what has a time of its own, at most `most` of it. What ended at `through` has
--- been kept long enough; window: how long finished work is kept before what is left of it counts. Returns whether there
--- may be more.
local retained = { events = {}, steps = {} }
