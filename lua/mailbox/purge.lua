--- Cancels at most `max` READY messages of a mailbox in the order of receives, then DELAYED and BLOCKED ones in the
--- order they wait; with a scopeId, only messages of its subtree. Messages of a cancelled run count for its cancel.
--- Groups that a cancel may decide count as work, so a step ends early if they have many members. Each step starts
--- again with the first READY message. cursor: the last DELAYED or BLOCKED message that an earlier step passed over
--- because it is outside the subtree; if there was none, the last message of the step, which only says that there is
--- more. finished '1': see mailbox/_clear instead.
--- @request write
--- @args mailboxId scopeId max cursor finished
--- @reply cancelled removed nextCursor
--- @include lib/audit lib/call lib/caller lib/clock lib/merge lib/plan lib/refuse group/_group mailbox/_clear
--- @include mailbox/_end mailbox/_mailbox mailbox/_message mailbox/_others scope/_scope
local workLimit = 500
if not mailbox.read(mailboxId) then refuse('MAILBOX_NOT_FOUND') end
max = tonumber(max)
if finished == '1' then
  local removed, nextCursor = clearFinished(mailboxId, scopeId, max, cursor)
  if removed > 0 then audit('mailbox.purged', caller.actor(), mailboxId, inSpace('"removed":' .. removed)) end
  return call.answer({ removed = removed, nextCursor = nextCursor }, removed > 0 and 'operation' or nil)
end

--- The first `limit` messages of the queues.
local function firstReady(limit)
  if scopeId ~= '' then return redis.call('ZRANGE', keys.ready(mailboxId, scopeId), 0, limit - 1) end
  -- Heads are exact only to the second, so as many roots are read as messages are wanted; among these the order is
  -- exact.
  local roots, queues = merge.byScore(keys.heads(mailboxId)), {}
  while roots.member and #queues < limit do
    queues[#queues + 1] = merge.byScore(keys.ready(mailboxId, roots.member))
    merge.step(roots)
  end
  local found = merge.take(limit, merge.inOrder(queues))
  for i, entry in ipairs(found) do found[i] = entry.member end
  return found
end

local decidable = {}

--- How many records may change with a message: all members of its group, if that may be decided.
local function workOf(record)
  if not record.groupId or decidable[record.groupId] then return 1 end
  decidable[record.groupId] = true
  local groupRecord = group.load(record.groupId)
  return 1 + (groupRecord.state == 'DECIDED' and 0 or groupRecord.members)
end

local scanLimit = 1000
local passed

--- Adds the wanted messages from the start of a set. Returns whether there are more to look at.
local function addFrom(key, found, wanted)
  local start = cursor ~= '' and redis.call('ZRANK', key, cursor)
  start = start and start + 1 or 0
  for i, id in ipairs(redis.call('ZRANGE', key, start, start + scanLimit)) do
    if i > scanLimit then return true end
    if #found == wanted then return false end
    if message.isBelow(id, scopeId) then found[#found + 1] = id else passed = id end
  end
end

local function addWaiting(found, wanted)
  local blockedOnes = keys.blocked(mailboxId)
  -- DELAYED messages come before BLOCKED ones.
  if cursor == '' or not redis.call('ZRANK', blockedOnes, cursor) then
    if addFrom(keys.delayed(mailboxId), found, wanted) then return true end
  end
  return addFrom(blockedOnes, found, wanted)
end

local list = firstReady(max + 1)
local more = #list <= max and addWaiting(list, max + 1) or false
local cancelled, stopped, last, work = 0, 0, false, 0
for i, member in ipairs(list) do
  local record = message.read(string.sub(member, -36))
  -- Its group may have been decided meanwhile. A message whose deadline has just passed is left to the sweep.
  if message.isLive(record) and record.state ~= 'CLAIMED' and message.changesAt(record) > now
    and not (record.groupId and members.overdue(record)) then
    work = work + workOf(record)
    if i > max or cancelled + stopped > 0 and work > workLimit then
      more = true
      break
    end
    local cancel = scope.cancelFor(record)
    if cancel then
      message.stop(record, cancel)
      stopped = stopped + 1
    else
      if cancelled == 0 then plan.needOperation() end
      message.finish(record, 'CANCELLED', now, emit.message.cancelled, 'CANCELLED_BY_CALLER')
      cancelled = cancelled + 1
    end
  end
  last = record.id
end
if cancelled > 0 then audit('mailbox.purged', caller.actor(), mailboxId, inSpace('"cancelled":' .. cancelled)) end
return call.answer({ cancelled = cancelled, nextCursor = more and (passed or last) },
  cancelled > 0 and 'operation' or nil)
