--- @export changeInBulk
--- @include lib/clock lib/records mailbox/_mailbox mailbox/_message mailbox/_packed mailbox/_requeue
--- @include mailbox/_send mailbox/_end mailbox/_others scope/_scope
--- What bulk work does with one message. It takes messages that were there when it began: a PURGE those sent until
--- then, a REQUEUE those that had ended by then, so nothing that fails again comes back twice.

--- Counts a message that stays as it is.
local function passOver(record, code)
  local counts, isKnown = record.passedOver or '', false
  counts = string.gsub(counts, '%f[%u_]' .. code .. ' (%d+)', function(number)
    isKnown = true
    return code .. ' ' .. number + 1
  end)
  if not isKnown then counts = counts .. (counts == '' and '' or ' ') .. code .. ' 1' end
  records.set(record, 'passedOver', counts)
  return 0
end

local function requeue(record, id)
  if packed.damaged(id) then return passOver(record, 'MESSAGES_DAMAGED') end
  local found = message.readForRequeue(id)
  -- The tombstone of a task has no mailboxId.
  if not found or not found.mailboxId or found.state ~= record.messageState then return 0 end
  if found.finishedAt > record.startedAt then return 0 end
  local obstacle, box = message.obstacle(found), mailbox.read(found.mailboxId)
  if obstacle then return passOver(record, obstacle) end
  if not box then return passOver(record, 'MAILBOX_NOT_FOUND') end
  local lack = capacity.lack(box, found.deadline and found.deadline > now and 1 or 0, found.taskId)
  if lack then return nil, lack end
  message.requeue(found, box, 0)
  records.set(record, 'done', record.done + 1)
  return 1
end

local function purge(record, id)
  -- Packed messages are never live.
  local found = message.stored(id, 'state')
  if not found or not message.isLive(found) or found.state == 'CLAIMED' then return 0 end
  found = message.read(id)
  if record.messageState then
    message.load(id, 'readyAt')
    if message.stateNow(found) ~= record.messageState then return 0 end
  end
  -- A message whose deadline has just passed is left to the sweep.
  if message.changesAt(found) <= now or found.groupId and members.overdue(found) then return 0 end
  local before, cancel = message.finishes, scope.cancelFor(found)
  if cancel then
    message.stop(found, cancel)
  else
    message.finish(found, 'CANCELLED', now, emit.message.cancelled, 'CANCELLED_BY_CALLER')
    records.set(record, 'done', record.done + 1)
  end
  return message.finishes - before
end

--- Changes a message, or passes over it, and counts that in the record of the bulk. Returns how many messages changed,
--- or nil and the code of the limit that leaves no room for it now.
local function changeInBulk(record, id)
  if record.action == 'REQUEUE' then return requeue(record, id) end
  return purge(record, id)
end
