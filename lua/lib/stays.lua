--- @registry stays
--- Records that a cancelled run keeps: their counters in the scope's record, by their name in the answer. Each room's
--- _stays.lua adds its own.
local stays = {}
