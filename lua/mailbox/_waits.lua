--- @include "lib/waiting"
--- @include "lib/merge"
--- @include "mailbox/_mailbox"
--- @include "mailbox/_message"
--- What /ops/waits shows of messages.

--- Live claims, the next to end first.
function waiting.heldClaims(most)
  local ids, list = redis.call('ZRANGE', keys.claims(), 0, most), {}
  for i = 1, math.min(most, #ids) do
    list[i] = rows.heldClaim(message.load(ids[i], 'mailboxId', 'taskId', 'scopeId', 'holder', 'holderSession', 'attempts',
      'claimedAt', 'leaseExpiresAt'))
  end
  return list, #ids > most
end

--- The root scopes with the oldest heads in all work mailboxes: an inbox has no tasks.
local function oldestQueues(most)
  local mailboxes = merge.byScore(keys.oldestReady())
  local queues = merge.take(most, function()
    while mailboxes.at and mailboxes.from < 1000 do
      local box = mailbox.load(mailboxes.member, 'mode')
      merge.step(mailboxes)
      if box and box.mode == 'WORK' then return merge.byScore(keys.heads(box.id), box.id) end
    end
  end)
  return queues, mailboxes
end

--- READY tasks, oldest first. Each mailbox and root scope has a queue of its own; they are merged by their heads.
function waiting.waitingTasks(most)
  local queues, mailboxes = oldestQueues(most + 1)
  local cursors = {}
  for i, queue in ipairs(queues) do cursors[i] = merge.byScore(keys.ready(queue.owner, queue.member)) end
  local list = merge.take(most + 1, merge.inOrder(cursors))
  for i, found in ipairs(list) do
    local record = message.load(string.sub(found.member, -36), 'scopeId', 'mailboxId', 'taskId', 'groupId')
    record.waitingSince = found.at
    list[i] = rows.waitingTask(record)
  end
  local more = #list > most or mailboxes.at ~= nil
  list[most + 1] = nil
  return list, more
end
