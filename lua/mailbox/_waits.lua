--- @include "lib/waiting"
--- @include "lib/merge"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_message"

--- Live claims, the one that ends next first.
function waiting.heldClaims(maxRows)
  local ids, list = redis.call('ZRANGE', keys.claims(), 0, maxRows), {}
  for i = 1, math.min(maxRows, #ids) do
    list[i] = rows.heldClaim(message.load(ids[i], 'mailboxId', 'taskId', 'scopeId', 'holder', 'holderSession', 'attempts',
      'claimedAt', 'leaseExpiresAt'))
  end
  return list, #ids > maxRows
end

--- The root scopes with the oldest heads in all WORK mailboxes; an INBOX has no tasks.
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

--- READY tasks, oldest first. Each mailbox and root scope has its own queue; they are merged by their heads.
function waiting.waitingTasks(maxRows)
  local queues, mailboxes = oldestQueues(maxRows + 1)
  local cursors = {}
  for i, queue in ipairs(queues) do cursors[i] = merge.byScore(keys.ready(queue.owner, queue.member)) end
  local list = merge.take(maxRows + 1, merge.inOrder(cursors))
  for i, found in ipairs(list) do
    local record = message.load(string.sub(found.member, -36), 'scopeId', 'mailboxId', 'taskId', 'groupId')
    record.waitingSince = found.at
    list[i] = rows.waitingTask(record)
  end
  local more = #list > maxRows or mailboxes.at ~= nil
  list[maxRows + 1] = nil
  return list, more
end
