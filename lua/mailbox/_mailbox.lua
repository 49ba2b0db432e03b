--- @include "lib/later"
--- @include "lib/records"
--- A mailbox's record and its counters.
local mailbox = {}

--- mode, recipientId, backlogLimit, ready, claimed, sequence; numbers as numbers. nil when there is no such mailbox.
function mailbox.read(mailboxId)
  local key = keys.mailbox(mailboxId)
  local record = records.known(key)
  if record then return record end
  later.settle(key)
  local values = redis.call('HMGET', key, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'sequence')
  if not values[1] then return nil end
  return records.keep(key, { id = mailboxId, mode = values[1], recipientId = values[2], backlogLimit = tonumber(values[3]),
    ready = tonumber(values[4]), claimed = tonumber(values[5]), sequence = tonumber(values[6]) })
end

--- Changes `ready` or `claimed`.
function mailbox.change(record, counter, by)
  records.set(record, counter, record[counter] + by)
end

--- Changes one of them by id: the record is not read for it.
function mailbox.add(mailboxId, counter, by)
  local key = keys.mailbox(mailboxId)
  local record = records.known(key)
  if record then mailbox.change(record, counter, by) else later.add(key, counter, by) end
end

--- The sequence number of the next message that becomes ready, as text.
function mailbox.nextSequence(record)
  local sequence = record.sequence + 1
  records.set(record, 'sequence', sequence)
  return string.format('%d', sequence)
end
