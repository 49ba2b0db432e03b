--- @export figures
--- @include lib/day lib/maps lib/records lib/sorted lib/space mailbox/_mailbox space/_space
--- How often messages were sent, were claimed and ended, of each mailbox and of the space. No call that is made often counts
--- anything for that: it follows from the numbers of messages by state, which are kept anyway, and from counters of what is rare.
---
---   sent of a mailbox    the messages that it has, and those that were removed or packed (`goneTotal`)
---   acked of a mailbox   those that were sent, less the live ones and those that ended otherwise
---   acked of the space   the ACKED messages, and those that were removed (`ackedRemoved`)
---   sent of the space    the messages that are live or have ended, less the requeued ones (`requeuedTotal`)
---   claimed of either    those acked, the CLAIMED ones, and the claims that ended otherwise (`unackedTotal`)
---
--- `figuresMinute` of either record is the minute in which one of these last rose. The first to rise in a later minute closes
--- that one: what was added in it goes into a hash, once by the minute and once by ten minutes. A minute takes the place of
--- the one an hour before, and ten minutes those of the day before; each place says of when it is.
local figures = {}

local ofSpace = { 'messages:READY', 'messages:DELAYED', 'messages:BLOCKED', 'messages:CLAIMED', 'messages:ACKED', 'ackedRemoved',
  'unackedTotal', 'requeuedTotal', 'events:message.rejected', 'events:message.failed', 'events:message.expired',
  'events:message.cancelled' }

--- What is counted, in the order in which answers have it.
figures.names = { 'sent', 'claimed', 'acked', 'rejected', 'failed', 'expired', 'cancelled' }

local function listed(sent, acked, inHand, unacked, rejected, failed, expired, cancelled)
  return { sent, acked + inHand + unacked, acked, rejected, failed, expired, cancelled }
end

local function loadMailbox(mailboxId)
  return mailbox.load(mailboxId, 'ready', 'delayed', 'blocked', 'claimed', 'goneTotal', 'unackedTotal', 'requeuedTotal',
    'rejectedTotal', 'failedTotal', 'expiredTotal', 'cancelledTotal', 'figuresMinute')
end

local function mailboxTotals(box)
  local sent = sorted.count(keys.messages(box.id)) + box.goneTotal
  local rejected, failed, expired, cancelled = box.rejectedTotal, box.failedTotal, box.expiredTotal, box.cancelledTotal
  local acked = sent + box.requeuedTotal - box.ready - box.delayed - box.blocked - box.claimed - rejected - failed - expired - cancelled
  return listed(sent, acked, box.claimed, box.unackedTotal, rejected, failed, expired, cancelled)
end

local function loadSpace()
  return space.load(spaceId, 'figuresMinute')
end

local function spaceTotals(record)
  records.fill(record, ofSpace)
  -- What the invocation has changed of these without having read it.
  loadSpace()
  local values = {}
  for i, name in ipairs(ofSpace) do values[i] = record[name] or 0 end
  local ready, delayed, blocked, inHand, acked, removed, unacked, requeued, rejected, failed, expired, cancelled = unpack(values)
  acked = acked + removed
  local sent = ready + delayed + blocked + inHand + acked + rejected + failed + expired + cancelled - requeued
  return listed(sent, acked, inHand, unacked, rejected, failed, expired, cancelled)
end

local function numbersIn(text)
  local list = {}
  for number in string.gmatch(text or '', '%-?%d+') do list[#list + 1] = tonumber(number) end
  return list
end

--- Adds counts to the place of a period, which has some already where the clock went back.
local function keep(key, place, period, counts)
  local kept = numbersIn(maps.get(key, place))
  local isSame, list = kept[1] == period, { period }
  for i, count in ipairs(counts) do list[i + 1] = count + (isSame and kept[i + 1] or 0) end
  maps.put(key, place, table.concat(list, ' '))
end

--- Closes the last minute of a record. `base`: the totals when that minute began.
local function close(record, totals, key)
  -- In a store of an earlier version the space has none.
  local last, base, counts = record.figuresMinute or 0, numbersIn(maps.get(key, 'base')), {}
  for i, total in ipairs(totals) do counts[i] = total - (base[i] or 0) end
  if last > 0 then
    local ten = math.floor(last / 10)
    keep(key, 'm' .. last % 60, last, counts)
    keep(key, 't' .. ten % 144, ten, counts)
  end
  maps.put(key, 'base', table.concat(totals, ' '))
  records.set(record, 'figuresMinute', minute)
end

--- Before a message of a mailbox is sent, is claimed or ends, once that can no longer be refused: the minute is another one than
--- that of the mailbox. Callers compare them, so that only the first in a minute pays for it. The space's is never before that of
--- a mailbox.
function figures.turn(mailboxId)
  local box, record = loadMailbox(mailboxId), loadSpace()
  if box.figuresMinute ~= minute then close(box, mailboxTotals(box), keys.mailboxFigures(mailboxId)) end
  if record.figuresMinute ~= minute then close(record, spaceTotals(record), keys.figures()) end
end

--- How often each has happened in the space.
function figures.ofSpace()
  return spaceTotals(loadSpace())
end

--- Of the space ('') or a mailbox: the minute that is not closed yet (0: nothing has happened), how often each has happened, and
--- the places with their names. nil where there is no such mailbox.
function figures.read(mailboxId)
  if mailboxId == '' then return loadSpace().figuresMinute or 0, figures.ofSpace(), redis.call('HGETALL', keys.figures()) end
  local box = loadMailbox(mailboxId)
  if not box then return nil end
  return box.figuresMinute, mailboxTotals(box), redis.call('HGETALL', keys.mailboxFigures(mailboxId))
end
