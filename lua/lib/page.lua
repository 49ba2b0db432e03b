--- @export page idsAfter cutPage
--- ids: read for a page, one more than its limit. Returns those on the page, and the last of them if there are more, else
--- false.
local function cutPage(ids, limit)
  if #ids <= tonumber(limit) then return ids, false end
  ids[#ids] = nil
  return ids, ids[#ids]
end

--- At most `limit` ids after one ('': from the first on), oldest first. The key is a sorted set of ids, all of one score.
local function idsAfter(key, after, limit)
  return redis.call('ZRANGE', key, after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, limit)
end

--- A page of a list, newest first, after the id `cursor` ('' for the first): its ids, and the last of them where there
--- are more, or false. The key is a sorted set of ids, all of one score.
local function page(key, limit, cursor)
  return cutPage(redis.call('ZRANGE', key, cursor == '' and '+' or '(' .. cursor, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1), limit)
end
