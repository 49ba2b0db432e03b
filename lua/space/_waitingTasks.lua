--- @include "lib/call"
--- @include "lib/merge"
--- READY tasks of the space, oldest first. Each mailbox and root scope has a queue of its own; they are merged by their
--- heads.
local waitingTasks = {}

--- The roots with the oldest heads in all work mailboxes: an inbox has no tasks.
local function oldestQueues(most)
  local mailboxes = merge.byScore(keys.oldestReady())
  local queues = merge.take(most, function()
    while mailboxes.at and mailboxes.from < 1000 do
      local mailboxId = mailboxes.member
      merge.step(mailboxes)
      if redis.call('HGET', keys.mailbox(mailboxId), 'mode') == 'WORK' then return merge.byScore(keys.heads(mailboxId), mailboxId) end
    end
  end)
  return queues, mailboxes
end

--- At most `most` rows (taskId, groupId, mailboxId, scopeId, since when it waits), and whether there are more.
function waitingTasks.read(most)
  local queues, mailboxes = oldestQueues(most + 1)
  local cursors = {}
  for i, queue in ipairs(queues) do cursors[i] = merge.byScore(keys.ready(queue[3], queue[1]), queue[3]) end
  local rows = merge.take(most + 1, merge.inOrder(cursors))
  for i, row in ipairs(rows) do
    local id = string.sub(row[1], 13)
    local taskId, groupId, scopeId = unpack(redis.call('HMGET', keys.message(id), 'taskId', 'groupId', 'scopeId'))
    rows[i] = { taskId or id, groupId, row[3], scopeId, row[2] }
  end
  local more = #rows > most or mailboxes.at ~= nil
  rows[most + 1] = nil
  return rows, more
end
