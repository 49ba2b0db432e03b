--- What retention does with records whose time is over, by `<room>:<kind>`: each room's _retain.lua adds its own. The
--- record is in no list of finished ones any more by then; `at` is the moment it finished. May return how many records
--- of its own it removed.
local retained = {}
