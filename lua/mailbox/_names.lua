--- @export names
--- @include lib/page lib/sorted
--- Mailboxes by name. Names are not unique, so one sorted set has them all as name, tab and id: no name holds a
--- control character, so those of a name stand together, the oldest first.
local names = {}

local function member(name, mailboxId)
  return name .. '\t' .. mailboxId
end

function names.add(name, mailboxId)
  sorted.add(keys.mailboxNames(), '0', member(name, mailboxId))
end

function names.remove(name, mailboxId)
  sorted.remove(keys.mailboxNames(), member(name, mailboxId))
end

--- The id of the oldest mailbox of a name; nil where there is none.
function names.oldest(name)
  local found = sorted.byName(keys.mailboxNames(), name .. '\t', '', 1)[1]
  return found and string.sub(found, -36)
end

--- A page of the mailboxes of a name, as `page` gives one of a list.
function names.page(name, limit, cursor)
  local after = cursor == '' and name .. '\n' or member(name, cursor)
  local ids = redis.call('ZRANGE', keys.mailboxNames(), '(' .. after, '[' .. name .. '\t', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
  for i, found in ipairs(ids) do ids[i] = string.sub(found, -36) end
  return cutPage(ids, limit)
end
