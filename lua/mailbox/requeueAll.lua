--- Requeues messages of a final state in a mailbox, oldest first; with a scopeId, only messages of its subtree.
--- Messages that cannot be requeued are passed over and counted by error code. A step looks at 1,000 at most; the next
--- cursor is the last id looked at. A limit or a damaged message ends the step; if nothing has been requeued by then,
--- the call is refused.
--- @request write
--- @args mailboxId state scopeId max cursor
--- @reply requeued nextCursor passedOver
--- @include lib/audit lib/call lib/caller lib/clock lib/page lib/plan lib/refuse mailbox/_mailbox mailbox/_message
--- @include mailbox/_packed mailbox/_requeue mailbox/_send
local scanLimit = 1000
local box = mailbox.read(mailboxId)
if not box then refuse('MAILBOX_NOT_FOUND') end
max = tonumber(max)

local function timersOf(record)
  return record.deadline and record.deadline > now and 1 or 0
end

local function idsBehind(after, maxIds)
  return idsAfter(keys.requeueable(mailboxId, state), after, maxIds)
end

local ids = idsBehind(cursor, scanLimit + 1)
packed.ahead(ids, 1)
local requeued, last, more = 0, cursor, false
-- The reply, and its entries by code.
local passedOver, entries = {}, {}

local function passOver(code)
  local entry = entries[code]
  if not entry then
    entry = { code, 0 }
    entries[code], passedOver[#passedOver + 1] = entry, entry
  end
  entry[2] = entry[2] + 1
end

for i, id in ipairs(ids) do
  local damaged = packed.damaged(id)
  if damaged then
    if requeued == 0 then packed.refuseDamaged(damaged, packed.lastDamaged(damaged, idsBehind(last, damaged.count))) end
    more = true
    break
  end
  local record = i <= scanLimit and requeued < max and message.isBelow(id, scopeId) and message.readForRequeue(id)
  local obstacle = record and message.obstacle(record)
  if obstacle then
    passOver(obstacle)
    record = false
  end
  if record and requeued == 0 then
    plan.needOperation()
    capacity.forMessage(box, timersOf(record), record.taskId)
  end
  if i > scanLimit or requeued == max or record and capacity.lack(box, timersOf(record), record.taskId) then
    more = true
    break
  end
  if record then
    message.requeue(record, box, 0)
    requeued = requeued + 1
  end
  last = id
end
if requeued == 0 then
  return call.answer({ requeued = 0, nextCursor = more and last, passedOver = passedOver })
end
audit('mailbox.requeued', caller.actor(), mailboxId, inSpace('"state":"' .. state .. '","requeued":' .. requeued))
return call.answer({ requeued = requeued, nextCursor = more and last, passedOver = passedOver }, 'operation')
