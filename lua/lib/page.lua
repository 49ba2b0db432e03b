--- A page of a list, newest first, after the id `cursor` ('' for the first): its ids, and the last of them where there
--- are more, or false. The key is a sorted set of ids, all of one score.
local function page(key, limit, cursor)
  local ids = redis.call('ZRANGE', key, cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
  if #ids <= tonumber(limit) then return ids, false end
  ids[#ids] = nil
  return ids, ids[#ids]
end
