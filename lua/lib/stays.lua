--- @registry stays
--- What a cancelled run keeps, by the name that it has in the answer: the counter in the record of the scope; each room's
--- _stays.lua adds its own.
local stays = {}
