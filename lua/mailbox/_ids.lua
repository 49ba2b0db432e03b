--- @export idsOf
--- @include lib/page

--- At most `limit` ids of a mailbox after `after` ('': from the start), oldest first, including packed messages.
local function idsOf(mailboxId, after, limit)
  local ids = idsAfter(keys.messages(mailboxId), after, limit)
  local through, from, size = ids[limit], after == '' and '-' or '(' .. after, 4
  local list, last = {}, after
  while #list < limit and not (through and last >= through) do
    local entries = redis.call('ZRANGE', keys.mailboxSegments(mailboxId), from, '+', 'BYLEX', 'LIMIT', 0, size)
    for _, entry in ipairs(entries) do
      local packedIds = {}
      for id in string.gmatch(entry, '%S+') do packedIds[#packedIds + 1] = id end
      for i = #packedIds, 1, -1 do
        if packedIds[i] > after then list[#list + 1] = packedIds[i] end
      end
      last, from = packedIds[1], '(' .. entry
    end
    if #entries < size then break end
    size = 2 * size
  end
  if not list[1] then return ids end
  local both, i, j = {}, 1, 1
  while #both < limit and (ids[i] or list[j]) do
    local one, other = ids[i], list[j]
    if one and (not other or one <= other) then
      both[#both + 1], i = one, i + 1
      if one == other then j = j + 1 end
    else
      both[#both + 1], j = other, j + 1
    end
  end
  return both
end
