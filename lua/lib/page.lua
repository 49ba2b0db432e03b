--- A page of a sorted set of ids with equal scores, newest first, after the id `cursor` ('' for the first page): the ids, and
--- the last of them if there are more, else false.
local function page(key, limit, cursor)
  local ids = redis.call('ZRANGE', key, cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
  if #ids <= tonumber(limit) then return ids, false end
  ids[#ids] = nil
  return ids, ids[#ids]
end
