--- @export names
--- @include lib/page lib/sorted
--- Mailboxes by name. Names are not unique, so one sorted set has all mailboxes as name, tab and id. Names contain no
--- control characters, so mailboxes with the same name are adjacent, the oldest first.
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

--- The id of the oldest mailbox with this name; nil if there is none.
function names.oldest(name)
  local found = sorted.byName(keys.mailboxNames(), name .. '\t', '', 1)[1]
  return found and string.sub(found, -36)
end

--- A page of the mailboxes with this name, like `page` for a list.
function names.page(name, limit, cursor)
  local after = cursor == '' and name .. '\n' or member(name, cursor)
  local ids = redis.call('ZRANGE', keys.mailboxNames(), '(' .. after, '[' .. name .. '\t', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
  for i, found in ipairs(ids) do ids[i] = string.sub(found, -36) end
  return cutPage(ids, limit)
end
