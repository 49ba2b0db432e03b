--- @include "lib/sorted"
--- @include "lib/page"
--- Mailboxes by name. Names are not unique, so one sorted set has them all as `name}id`: no name holds a brace, and
--- what begins with `name}` stands together, the oldest first.
local names = {}

local function member(name, mailboxId)
  return name .. '}' .. mailboxId
end

function names.add(name, mailboxId)
  sorted.add(keys.mailboxNames(), '0', member(name, mailboxId))
end

function names.remove(name, mailboxId)
  sorted.remove(keys.mailboxNames(), member(name, mailboxId))
end

--- The id of the oldest mailbox of a name; nil where there is none.
function names.oldest(name)
  local found = redis.call('ZRANGE', keys.mailboxNames(), '[' .. name .. '}', '(' .. name .. '~', 'BYLEX', 'LIMIT', 0, 1)[1]
  return found and string.sub(found, -36)
end

--- A page of the mailboxes of a name, as `page` gives one of a list.
function names.page(name, limit, cursor)
  local after = cursor == '' and name .. '~' or member(name, cursor)
  local ids = redis.call('ZRANGE', keys.mailboxNames(), '(' .. after, '[' .. name .. '}', 'BYLEX', 'REV', 'LIMIT', 0, limit + 1)
  for i, found in ipairs(ids) do ids[i] = string.sub(found, -36) end
  return cutPage(ids, limit)
end
