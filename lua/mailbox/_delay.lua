--- @export delay
--- @include lib/clock lib/count lib/invocation lib/records lib/sorted lib/timer mailbox/_keyed mailbox/_mailbox
--- @include mailbox/_message mailbox/_others scope/_scope
--- DELAYED messages: one sorted set per mailbox, scored by when they become READY. A receive on the mailbox makes a few
--- due ones READY itself. Workers make the others READY in the background, so that no other call waits for them. The
--- mailbox's `nextReadyAt` is never later than the first of those moments; `orderedDelayed` counts the DELAYED messages
--- with a priority or a key.
local delay = {}
--- The most messages that the receives of an invocation make READY.
local maxRipened = 16
--- The same limit for messages that a worker's step makes READY because of keys (mailbox/_others), over all
--- mailboxes. Due messages beyond it get a later place in the order of their key.
local maxRipenedForKeys = 50

--- Arms the background timer of the mailbox for its first DELAYED message.
local function arm(box, at)
  records.set(box, 'nextReadyAt', at)
  if at then timer.armInBackground('mailbox:delays', box.id, at) end
end

local function isOrdered(record)
  local options = record.place and message.load(record.id, 'priority', 'key')
  return options and (options.priority > 0 or options.key)
end

--- Delays a new or given-back message until `at`.
function delay.hold(record, box, at)
  message.become(record, 'DELAYED')
  records.set(record, 'readyAt', at)
  records.set(box, 'delayed', box.delayed + 1)
  if isOrdered(record) then records.add(keys.mailbox(box.id), 'orderedDelayed', 1) end
  count.space('timers:ARMED', 1)
  sorted.add(keys.delayed(box.id), string.format('%d', at), record.id)
  if at < (box.nextReadyAt or math.huge) then arm(box, at) end
end

--- Takes a message out of the DELAYED ones; the caller sets its next state.
function delay.drop(record)
  records.add(keys.mailbox(record.mailboxId), 'delayed', -1)
  if isOrdered(record) then records.add(keys.mailbox(record.mailboxId), 'orderedDelayed', -1) end
  records.set(record, 'readyAt', false)
  count.space('timers:ARMED', -1)
  sorted.remove(keys.delayed(record.mailboxId), record.id)
end

--- Makes at most `limit` DELAYED messages due at `through` (nil: now) READY, in their order. Returns how many.
function delay.ripen(box, limit, through)
  through = through or now
  local key, done, anyOrdered = keys.delayed(box.id), 0, mailbox.load(box.id, 'orderedDelayed').orderedDelayed > 0
  local id, at = sorted.first(key)
  while id and tonumber(at) <= through and done < limit do
    local record = message.load(id, 'mailboxId', 'scopeId', 'taskId', 'state')
    if anyOrdered then message.load(id, 'place') end
    delay.drop(record)
    keyed.proceed(record, scope.path(record.scopeId), box, tonumber(at))
    done = done + 1
    id, at = sorted.first(key)
  end
  arm(box, tonumber(at) or false)
  return done
end

--- For a receive from a mailbox with `nextReadyAt`: makes some of the due messages READY.
function delay.ripenSome(box)
  local ripened = invocation.ripened or 0
  if box.nextReadyAt <= now and ripened < maxRipened then
    invocation.ripened = ripened + delay.ripen(box, maxRipened - ripened)
  end
end

function ripening.through(mailboxId, at)
  local ripened = invocation.ripenedForKeys or 0
  if ripened >= maxRipenedForKeys then return end
  invocation.ripenedForKeys = ripened + delay.ripen(mailbox.read(mailboxId), maxRipenedForKeys - ripened, at)
end

--- For a receive from a mailbox with `nextReadyAt`: whether a DELAYED message may come before the first READY one.
--- score: the score of that READY message; nil if there is none.
function delay.isFirst(box, score, through)
  local at = box.nextReadyAt
  if at > through then return false end
  return not score or at < tonumber(score) or mailbox.load(box.id, 'orderedDelayed').orderedDelayed > 0
end
