--- Makes one step of RUNNING bulk work, and ends it with the last one. A step continues where the one before it ended,
--- so it does not matter which worker makes it. pauseMs: when the next step is due at the latest.
--- @request worker
--- @args bulkId pauseMs
--- @reply goesOn
--- @include lib/call lib/caller lib/clock lib/id lib/page lib/records lib/timer bulk/_bulk bulk/_act
--- @include mailbox/_mailbox mailbox/_message mailbox/_packed scope/_scope scope/_walk

--- A change takes Redis about a tenth of a millisecond, a look a hundredth.
local maxChanges, maxLooks = 40, 300
--- How soon to try again when a limit leaves no room, and how long to do so.
local retryMs, patienceMs = 1000, 86400000

local record = bulk.load(bulkId)
if not record or record.state ~= 'RUNNING' then return call.answer({ goesOn = 0 }) end
caller.actFor(record.actor)
record.startedAt = momentOf(bulkId)
local changed, looked, lack = 0, 0, nil

--- Works through the next messages of a set, in the order in which they were sent. Returns whether none are left.
local function through(key)
  local limit = maxLooks - looked
  if limit == 0 then return false end
  local ids = idsAfter(key, record.position or '', limit)
  local isLast = #ids < limit
  packed.ahead(ids, 1)
  for i, id in ipairs(ids) do
    looked = looked + 1
    if record.action == 'PURGE' and momentOf(id) > record.startedAt then
      isLast = true
      break
    end
    local changes
    if changed < maxChanges then changes, lack = changeInBulk(record, id) end
    if not changes then
      if i > 1 then records.set(record, 'position', ids[i - 1]) end
      return false
    end
    changed = changed + changes
  end
  records.set(record, 'position', not isLast and ids[limit])
  return isLast
end

--- Whether there may be anything to do in a scope or below it.
local function isOfUse(scopeId)
  local counts = scope.load(scopeId, 'path', 'live', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled')
  return counts[record.action == 'PURGE' and 'live' or message.endedIn[record.messageState]] > 0
end

local function ofMailbox()
  local box = mailbox.read(record.mailboxId)
  if not box then return 'CANCELLED' end
  local key = keys.messages(record.mailboxId)
  if record.action == 'REQUEUE' then key = keys.requeueable(record.mailboxId, record.messageState) end
  if record.action == 'PURGE' and mailbox.backlog(box) == box.claimed then return 'DONE' end
  return through(key) and 'DONE' or nil
end

local function ofScope()
  local topId = record.scopeId
  if not isOfUse(topId) then return 'DONE' end
  -- Retention may have removed the scope that the walk has come to. Nothing is done twice from the start.
  local at = record.walk and scope.path(record.walk) and record.walk
  if record.walk and not at then records.set(record, 'position', false) end
  at = at or walk.first(topId)
  while at and looked < maxLooks do
    looked = looked + 1
    if isOfUse(at) and not through(keys.scopeMessages(at)) then break end
    at = walk.next(at, topId)
  end
  records.set(record, 'walk', at or false)
  return not at and 'DONE' or nil
end

local state = record.mailboxId and ofMailbox() or record.scopeId and ofScope()
if lack and changed == 0 then
  if not record.stalledAt then records.set(record, 'stalledAt', now) end
  if now - record.stalledAt >= patienceMs then state = 'CANCELLED' end
elseif record.stalledAt then
  records.set(record, 'stalledAt', false)
end
if record.waitsFor ~= (lack or false) then records.set(record, 'waitsFor', lack or false) end
if state then
  bulk.finish(record, state)
else
  timer.armInBackground('bulk:step', bulkId, now + (lack and retryMs or tonumber(pauseMs)))
end
return call.answer({ goesOn = not state and not lack and 1 or 0 })
