--- @export page idsAfter idsBefore cutPage sift among
--- Pages of sorted sets of ids, all of one score.

--- ids: read for a page, one more than its limit. Returns those on the page, and the last of them if there are more, else
--- false.
local function cutPage(ids, limit)
  if #ids <= tonumber(limit) then return ids, false end
  ids[#ids] = nil
  return ids, ids[#ids]
end

--- At most `limit` ids after one ('': from the first on), oldest first.
local function idsAfter(key, after, limit)
  return redis.call('ZRANGE', key, after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, limit)
end

--- At most `limit` ids before one ('': from the last on), newest first.
local function idsBefore(key, before, limit)
  return redis.call('ZRANGE', key, before == '' and '+' or '(' .. before, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit)
end

--- A page of a list, newest first, behind the id `cursor` ('' for the first): its ids, and the last of them where there
--- are more, or false.
local function page(key, limit, cursor)
  return cutPage(idsBefore(key, cursor, limit + 1), limit)
end

--- Of these ids, read for a page, what `show(id)` answers: nil leaves one out. Looks at no more than maxLooks and ends early
--- once the sizes that `show` may answer besides exceed 4 MiB, so a page may be short though there are more. Returns it with
--- the last id looked at if there are more, else false.
local function sift(ids, limit, maxLooks, show)
  local found, bytes = {}, 0
  for i, id in ipairs(ids) do
    if #found == limit or i > maxLooks or bytes > 4194304 then return found, ids[i - 1] end
    local record, size = show(id)
    found[#found + 1], bytes = record, bytes + (size or 0)
  end
  return found, false
end

--- Whether a word is in a list `,A,B,` of those wanted; '': any is.
local function among(word, list)
  return list == '' or string.find(list, ',' .. word .. ',', 1, true) ~= nil
end
