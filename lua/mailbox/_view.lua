--- @export names
--- @include lib/page lib/records lib/sorted mailbox/_figures mailbox/_keyed mailbox/_mailbox mailbox/_message
--- @include mailbox/_others mailbox/_ready
--- A mailbox as reads show it; nil if there is no such mailbox.
function mailbox.view(mailboxId)
  local record = mailbox.load(mailboxId)
  if not record then return nil end
  record.oldestReadyAt, record.acked = oldest.readyOf(mailboxId, 16), figures.ackedKept(record)
  return record
end

--- The record as reads show it: without the lease of an ended claim, and without the delay of a BLOCKED message, whose
--- key may be all it waits for. Such changes must not be written, so this is a copy, unless the message is CLAIMED and
--- has neither prerequisites nor a question, and was not suspended.
function message.shown(record)
  local isBlocked = record.state == 'BLOCKED'
  local isSimple = not (record.prerequisites or record.questionId or record.suspended)
  if record.state ~= 'CLAIMED' or not isSimple then record = records.copy(record) end
  if record.state ~= 'CLAIMED' then record.leaseExpiresAt, record.attemptEndsAt = false, false end
  if isBlocked then
    record.readyAt = false
    record.keyHolder = record.key and not record.blockedOn and keyed.holder(record.mailboxId, record.key)
  end
  if record.questionId then record.question = asked.find(record.questionId) end
  return record
end

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
  local ids = redis.call('ZRANGE', keys.mailboxNames(), '(' .. after, '[' .. name .. '\t', 'BYLEX', 'REV', 'LIMIT', 0,
    limit + 1)
  for i, found in ipairs(ids) do ids[i] = string.sub(found, -36) end
  return cutPage(ids, limit)
end
