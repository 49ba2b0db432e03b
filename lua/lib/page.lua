--- @export page idsAfter idsBefore cutPage sift among
--- Pages of sorted sets of ids with equal scores.

--- Cuts a page from ids that were read with one more than its limit. Returns the page, and its last id if there are
--- more, else false.
local function cutPage(ids, limit)
  if #ids <= tonumber(limit) then return ids, false end
  ids[#ids] = nil
  return ids, ids[#ids]
end

--- At most `limit` ids after `after` ('': from the start), oldest first.
local function idsAfter(key, after, limit)
  return redis.call('ZRANGE', key, after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, limit)
end

--- At most `limit` ids before `before` ('': from the end), newest first.
local function idsBefore(key, before, limit)
  return redis.call('ZRANGE', key, before == '' and '+' or '(' .. before, '-', 'BYLEX', 'REV', 'LIMIT', 0, limit)
end

--- A page, newest first, after the id `cursor` ('' for the first page). Returns the ids, and the last of them if there
--- are more, else false.
local function page(key, limit, cursor)
  return cutPage(idsBefore(key, cursor, limit + 1), limit)
end

--- Builds a page from candidate ids: `show(id)` returns the record to list, or nil to skip it, and optionally its size.
--- Looks at no more than maxLooks ids and stops once the sizes exceed 4 MiB, so a page may be short although more
--- records follow. Returns the page, and the last id looked at if there are more, else false.
local function sift(ids, limit, maxLooks, show)
  local found, bytes = {}, 0
  for i, id in ipairs(ids) do
    if #found == limit or i > maxLooks or bytes > 4194304 then return found, ids[i - 1] end
    local record, size = show(id)
    found[#found + 1], bytes = record, bytes + (size or 0)
  end
  return found, false
end

--- Whether a word is in the list `,A,B,`; any word is in ''.
local function among(word, list)
  return list == '' or string.find(list, ',' .. word .. ',', 1, true) ~= nil
end
