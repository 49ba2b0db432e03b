--- @include lib/caller lib/count lib/guards lib/hooks lib/id lib/lease lib/merge lib/space lib/streamId
--- @include event/_segments mailbox/_figures mailbox/_mailbox mailbox/_message mailbox/_packed mailbox/_paused
--- @include mailbox/_ready mailbox/_view scope/_scope
--- What the room adds to the work of others: see lib/hooks.

inRun.messages = { ahead = packed.ahead }

function inRun.messages.index(scopeId)
  return keys.scopeMessages(scopeId)
end

--- A scope is kept while suspended messages wait for its notes.
function inRun.messages.holds(scopeId)
  return scope.load(scopeId, 'path', 'noteWaits').noteWaits > 0
end

--- A message, or the tombstone of its task; nil if it is damaged.
function inRun.messages.row(id)
  if packed.damaged(id) then return nil end
  -- A tombstone has no mailboxId, so the first field says whether the record exists.
  local record = message.load(id, 'scopeId', '@messageSummary', 'tombstoneOf')
  record.mailboxId = record.mailboxId or record.tombstoneOf
  return rows.messageSummary(message.shown(record))
end

--- Live claims, the earliest end first.
function waiting.heldClaims(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.claims(), 0, maxRows), maxRows, function(id)
    return rows.heldClaim(message.load(id, '@heldClaim'))
  end)
end

--- The root scopes with the oldest heads in all WORK mailboxes. An INBOX has no tasks.
local function oldestQueues(maxQueues)
  local mailboxes = merge.byScore(keys.oldestReady())
  local queues = merge.take(maxQueues, function()
    while mailboxes.at and mailboxes.from < 1000 do
      local box = mailbox.load(mailboxes.member, 'mode')
      merge.step(mailboxes)
      if box and box.mode == 'WORK' then return merge.byScore(keys.heads(box.id), box.id) end
    end
  end)
  return queues, mailboxes
end

--- Cursors over the DELAYED messages of the WORK mailboxes that have some; and whether there are more mailboxes.
local function delayedQueues()
  local timers = redis.call('ZRANGE', keys.backgroundTimers(), 0, 1000)
  local cursors = {}
  for i = 1, math.min(1000, #timers) do
    local number, id = string.match(timers[i], '^mailbox:delays:([^:]+):(.*)$')
    local box = number == spaceNumber and mailbox.load(id, 'mode')
    if box and box.mode == 'WORK' then
      local cursor = merge.byScore(keys.delayed(id))
      if cursor.at then cursors[#cursors + 1] = cursor end
    end
  end
  return cursors, #timers > 1000
end

local function waitingTask(messageId)
  return message.load(messageId, '@waitingTask', 'place', 'attempts', 'key')
end

--- DELAYED tasks, the next to be READY first. They have waited since they were sent or given back.
local function addDelayed(list, maxRows)
  local cursors, more = delayedQueues()
  for _, found in ipairs(merge.take(maxRows + 1 - #list, merge.inOrder(cursors))) do
    local record = waitingTask(found.member)
    record.waitingSince = momentOf(record.place or record.id)
    record.position, record.waitsFor = false, record.attempts > 0 and 'RETRY' or 'DELAY'
    list[#list + 1] = rows.waitingTask(record)
  end
  return more
end

--- BLOCKED tasks, the longest waiting first.
local function addBlocked(list, maxRows)
  local cursors, ids = {}, redis.call('ZRANGE', keys.mailboxes(), 0, 1000)
  for i = 1, math.min(1000, #ids) do
    local box = mailbox.load(ids[i], 'mode', 'blocked')
    if box.mode == 'WORK' and box.blocked > 0 then cursors[#cursors + 1] = merge.byScore(keys.blocked(ids[i])) end
  end
  for _, found in ipairs(merge.take(maxRows + 1 - #list, merge.inOrder(cursors))) do
    local record = message.shown(waitingTask(found.member))
    record.waitingSince, record.position, record.waitsFor = found.at, false, 'BLOCKED'
    list[#list + 1] = rows.waitingTask(record)
  end
  return #ids > 1000
end

--- READY tasks in the order in which they are received, then DELAYED, then BLOCKED ones. Each mailbox and root scope
--- has its own queue, so the queues are merged by their heads.
function waiting.waitingTasks(maxRows)
  local queues, mailboxes = oldestQueues(maxRows + 1)
  local cursors = {}
  for i, queue in ipairs(queues) do cursors[i] = merge.byScore(keys.ready(queue.owner, queue.member), i) end
  local list, positions, anyPaused = merge.take(maxRows + 1, merge.inOrder(cursors)), {}, count.read('paused') > 0
  for i, found in ipairs(list) do
    local record = waitingTask(string.sub(found.member, -36))
    record.waitingSince = select(2, ready.read(found.at))
    local position = (positions[found.owner] or 0) + 1
    positions[found.owner], record.position = position, position
    record.pausedBy = anyPaused and paused.by(record.mailboxId, scope.path(record.scopeId))
    record.waitsFor = record.pausedBy and 'PAUSED' or position > 1 and 'HEAD_OF_LINE' or 'RECEIVER'
    list[i] = rows.waitingTask(record)
  end
  local more = mailboxes.at ~= nil
  if #list <= maxRows then more = addDelayed(list, maxRows) or more end
  if #list <= maxRows and mailbox.anyBlocked() then more = addBlocked(list, maxRows) or more end
  more = more or #list > maxRows
  list[maxRows + 1] = nil
  return list, more
end

--- When the space's oldest READY message became ready, or false. Exact if at most `maxMailboxes` mailboxes have an
--- earlier time in keys.oldestReady(), and if the same holds for the root scopes of each mailbox (oldest.readyOf).
function gauges.oldestReadyAt(maxMailboxes)
  maxMailboxes = maxMailboxes or 16
  return oldest.among(keys.oldestReady(), maxMailboxes, function(mailboxId)
    return oldest.readyOf(mailboxId, maxMailboxes)
  end)
end

--- The time of the first event after the position up to which messages have been packed, or false. No packed message is
--- newer than that.
function gauges.messagesPackedAt()
  local position = redis.call('HGET', keys.space(spaceId), 'messagesPackedThrough') or '0-0'
  local packedEvents = segments.from('(' .. position, 1)[1]
  if packedEvents then
    return streamId.at(streamId.isBefore(position, packedEvents.first) and packedEvents.first or position)
  end
  local entry = redis.call('XRANGE', keys.events(), '(' .. position, '+', 'COUNT', 1)[1]
  return entry and streamId.at(entry[1])
end

--- The figures of the space since it was created.
-- ipairs does not exist while Redis loads a library.
for i = 1, #figures.names do
  gauges['total:' .. figures.names[i]] = function() return figures.ofSpace()[i] end
end

--- For a caller limited to mailboxes. The script itself refuses an unknown id.
guards.mailboxId, guards.resultMailboxId = caller.needMailbox, caller.needMailbox

function guards.messageId(messageId)
  local record = message.load(messageId, 'mailboxId')
  if record and record.mailboxId then caller.needMailbox(record.mailboxId) end
end

--- Claims, in keys.claims() by the end of their lease.
leases['mailbox:lease'] = 'nextLease'
