--- @include "lib/later"
--- A mailbox's record: read once in a run, its counters written once.
local mailbox = {}
local known

function mailbox.begin()
  known = {}
end

--- mode, recipientId, backlogLimit, ready, claimed, sequence; numbers as numbers. nil when there is no such mailbox.
function mailbox.read(mailboxId)
  local key = keys.mailbox(mailboxId)
  local record = known[key]
  if record then return record end
  later.settle(key)
  local values = redis.call('HMGET', key, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'sequence')
  if not values[1] then return nil end
  record = { id = mailboxId, key = key, mode = values[1], recipientId = values[2], backlogLimit = tonumber(values[3]),
    ready = tonumber(values[4]), claimed = tonumber(values[5]), sequence = tonumber(values[6]) }
  known[key] = record
  return record
end

--- Changes one of ready, claimed and sequence. Returns what it is now, as text.
local function change(record, counter, by)
  local value = record[counter] + by
  record[counter] = value
  return string.format('%d', value)
end

--- Changes two of ready, claimed and sequence. Returns what the second one is now, as text.
function mailbox.change(record, counter, by, other, otherBy)
  local value, otherValue = change(record, counter, by), change(record, other, otherBy)
  later.set(record.key, counter, value, other, otherValue)
  return otherValue
end

--- Changes one of them by id: the record is not read for it.
function mailbox.add(mailboxId, counter, by)
  local key = keys.mailbox(mailboxId)
  local record = known[key]
  if record then later.set(key, counter, change(record, counter, by)) else later.add(key, counter, by) end
end
