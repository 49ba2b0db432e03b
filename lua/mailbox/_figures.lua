--- @export figures
--- @include lib/day lib/maps lib/records lib/sorted lib/space mailbox/_mailbox space/_space
--- How often messages were sent, claimed and ended, per mailbox and per space. The frequent calls count nothing extra
--- for this: the figures follow from the numbers of messages by state, which are kept anyway, and from counters of rare
--- events.
---
---   sent, mailbox     its messages, plus those removed or packed (`goneTotal`)
---   acked, mailbox    sent, less the live messages and those that ended otherwise; `ackedRemoved` of them are not kept
---   acked, space      the ACKED messages, plus those removed (`ackedRemoved`)
---   sent, space       live and ended messages, less the requeues (`requeuedTotal`)
---   claimed, both     acked, plus CLAIMED, plus claims that ended otherwise (`unackedTotal`)
---
--- Each record's `figuresMinute` is the minute in which a figure last rose. The first rise in a later minute closes it:
--- the counts of the closed minute are added to a hash, at the place of that minute and at the place of its ten
--- minutes. Places are reused after an hour and after a day, so each also stores its period.
local figures = {}

local ofSpace = { 'messages:READY', 'messages:DELAYED', 'messages:BLOCKED', 'messages:CLAIMED', 'messages:ACKED',
  'ackedRemoved', 'unackedTotal', 'requeuedTotal', 'events:message.rejected', 'events:message.failed',
  'events:message.expired', 'events:message.cancelled' }

--- The figures, in the order of answers.
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
  local acked = sent + box.requeuedTotal - box.ready - box.delayed - box.blocked - box.claimed - rejected - failed
    - expired - cancelled
  return listed(sent, acked, box.claimed, box.unackedTotal, rejected, failed, expired, cancelled)
end

--- The ACKED messages of a mailbox that have not been removed; false in a mailbox of an earlier version, which did not
--- count the removed ones. box: its whole record.
function figures.ackedKept(box)
  return box.ackedRemoved and mailboxTotals(box)[3] - box.ackedRemoved
end

local function loadSpace()
  return space.load(spaceId, 'figuresMinute')
end

local function spaceTotals(record)
  records.fill(record, ofSpace)
  -- Adds the counter changes of this invocation.
  loadSpace()
  local values = {}
  for i, name in ipairs(ofSpace) do values[i] = record[name] or 0 end
  local ready, delayed, blocked, inHand, acked, removed, unacked, requeued, rejected, failed, expired, cancelled =
    unpack(values)
  acked = acked + removed
  local sent = ready + delayed + blocked + inHand + acked + rejected + failed + expired + cancelled - requeued
  return listed(sent, acked, inHand, unacked, rejected, failed, expired, cancelled)
end

local function numbersIn(text)
  local list = {}
  for number in string.gmatch(text or '', '%-?%d+') do list[#list + 1] = tonumber(number) end
  return list
end

--- Adds counts to the place of a period. The place has counts of that period already if the clock went back.
local function keep(key, place, period, counts)
  local kept = numbersIn(maps.get(key, place))
  local isSame, list = kept[1] == period, { period }
  for i, count in ipairs(counts) do list[i + 1] = count + (isSame and kept[i + 1] or 0) end
  maps.put(key, place, table.concat(list, ' '))
end

--- Closes the last minute of a record. base: the totals at its beginning.
local function close(record, totals, key)
  -- The space's record has no figuresMinute in a store of an earlier version.
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

--- Closes the last minute before a message is sent, claimed or ended in a new one. Call it once the change can no
--- longer be refused, and only if the mailbox's figuresMinute differs from `minute`, so that only the first change in a
--- minute pays for it. The space's figuresMinute is never earlier than a mailbox's.
function figures.turn(mailboxId)
  local box, record = loadMailbox(mailboxId), loadSpace()
  if box.figuresMinute ~= minute then close(box, mailboxTotals(box), keys.mailboxFigures(mailboxId)) end
  if record.figuresMinute ~= minute then close(record, spaceTotals(record), keys.figures()) end
end

--- The totals of the space.
function figures.ofSpace()
  return spaceTotals(loadSpace())
end

--- The figures of the space ('') or of a mailbox: the minute not closed yet (0 if nothing has happened), the totals,
--- and the places by name. nil if there is no such mailbox.
function figures.read(mailboxId)
  if mailboxId == '' then
    return loadSpace().figuresMinute or 0, figures.ofSpace(), redis.call('HGETALL', keys.figures())
  end
  local box = loadMailbox(mailboxId)
  if not box then return nil end
  return box.figuresMinute, mailboxTotals(box), redis.call('HGETALL', keys.mailboxFigures(mailboxId))
end
