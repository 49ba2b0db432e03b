--- @export ready oldest
--- @include lib/clock lib/count lib/id lib/journal lib/records lib/sorted mailbox/_message mailbox/_paused
--- READY messages: highest priority first; within a priority, first in, first out by when they became ready. A message
--- is in one sorted set for its scope and one for each scope above it, so a receive for any subtree is one ZRANGE. The
--- score is the moment, less 10^13 per step of priority, so the first member is always the next message.
---
--- Members are ids, which order messages within a millisecond. A message that was given back has its `place` in front
--- of its id: the start of an id of the later moment. A message with a priority, a key, prerequisites, requirements or
--- a trace has a place from the start, so code that moves a message looks for these only if it has a place.
---
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by their
--- oldest message) answer "how old is the oldest" without a scan (mailbox/_ready). They are never too late, but exact
--- only to the second, so that a queue that moves thousands of messages a second does not update them with each
--- message. While the next message has a priority, the head of its queue is not updated.
local ready = {}
--- Greater than any moment in milliseconds.
local priorityStep = 1e13

--- The place of a message that became ready again at `at`.
function ready.placeAt(at)
  return idHead(at) .. string.format('%03x ', at == now and fraction or 0)
end

--- The score of a message that became ready at `at`, as text.
local function scoreOf(at, priority)
  return string.format('%d', at - priority * priorityStep)
end

--- The priority and the moment in a score.
function ready.read(score)
  local priority = -math.floor(score / priorityStep)
  return priority, score + priority * priorityStep
end

--- The lowest score of a priority, as text.
function ready.leastScore(priority)
  return scoreOf(0, priority)
end

--- Adds a member to a set of heads, or moves an existing member to an earlier time.
local function advance(key, at, atText, member)
  local known = sorted.score(key, member)
  if not known or at < tonumber(known) then sorted.add(key, atText, member) end
end

--- Adds a message that became ready at `at` (also as text). member: its id, after its place if it has one; score: its
--- score if it has a priority, else nil.
function ready.add(mailboxId, path, member, at, atText, score)
  local rootQueue = keys.ready(mailboxId, path[1])
  local isFirst = sorted.isEmpty(rootQueue)
  if isFirst then turns.join(mailboxId, path[1]) elseif at < now then turns.keep(mailboxId, path[1]) end
  if isFirst or at < now then
    advance(keys.heads(mailboxId), at, atText, path[1])
    advance(keys.oldestReady(), at, atText, mailboxId)
  end
  if (at < now or score) and count.read('paused') > 0 then paused.forget(mailboxId, path) end
  score = score or atText
  sorted.add(rootQueue, score, member)
  for depth = 2, #path do sorted.add(keys.ready(mailboxId, path[depth]), score, member) end
  journal.wake(mailboxId .. '/' .. table.concat(path, '/'))
end

--- Adds a message that became ready at `at` after it was given back, DELAYED or BLOCKED. The caller sets its state.
function ready.put(record, path, box, at)
  records.set(box, 'ready', box.ready + 1)
  local priority = record.place and message.load(record.id, 'priority').priority or 0
  records.set(record, 'place', ready.placeAt(at))
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at),
    priority > 0 and scoreOf(at, priority))
end

--- Adds a message at its old place in the queue. The caller sets its state. score: its old score, as text.
function ready.restore(record, path, box, score)
  local _, at = ready.read(tonumber(score))
  records.set(box, 'ready', box.ready + 1)
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at), score)
end

--- The first member of a scope's queue, and its score; nil if the queue is empty.
function ready.first(mailboxId, scopeId)
  return sorted.first(keys.ready(mailboxId, scopeId))
end

--- The score of a message.
function ready.since(mailboxId, path, member)
  return sorted.score(keys.ready(mailboxId, path[1]), member)
end

--- Removes a message with this score (text).
function ready.remove(mailboxId, path, member, score)
  local rootQueue = keys.ready(mailboxId, path[1])
  sorted.remove(rootQueue, member)
  for depth = 2, #path do sorted.remove(keys.ready(mailboxId, path[depth]), member) end
  local _, next = sorted.first(rootQueue)
  if next and string.sub(next, 1, -4) == string.sub(score, 1, -4) then return end
  local heads, oldest = keys.heads(mailboxId), keys.oldestReady()
  if not next then
    sorted.remove(heads, path[1])
    turns.leave(mailboxId, path[1])
  elseif string.byte(next) == 45 then
    -- A minus sign: the next message has a priority, so the oldest one is further back.
    return
  else
    sorted.add(heads, next, path[1])
  end
  local _, head = sorted.first(heads)
  if head then sorted.add(oldest, head, mailboxId) else sorted.remove(oldest, mailboxId) end
end

--- When the oldest message of a mailbox became ready. For a space see mailbox/_hooks.
local oldest = {}
local highestPriority = 9

--- When the oldest message of one queue became ready. It may be the first message of any priority.
local function ofQueue(key)
  local first = tonumber(select(2, sorted.first(key)))
  if not first or first >= 0 then return first end
  local least = math.huge
  for priority = 0, highestPriority do
    local from, to = ready.leastScore(priority), priority == 0 and '+inf' or '(' .. ready.leastScore(priority - 1)
    local score = tonumber(sorted.byScore(key, from, to, 1)[2])
    if score then least = math.min(least, select(2, ready.read(score))) end
  end
  return least
end

--- The least value that `momentOf` returns for the first `maxMembers` members of a set of heads, or false. A member's
--- score is never later than its value, so the search ends at a score later than the least value so far.
function oldest.among(key, maxMembers, momentOf)
  local heads, first = sorted.front(key, maxMembers), math.huge
  for i = 1, #heads, 2 do
    if tonumber(heads[i + 1]) > first then break end
    first = math.min(first, momentOf(heads[i]) or first)
  end
  return first < math.huge and first
end

--- When a mailbox's oldest READY message became ready, or false. Exact if at most `maxRoots` root scopes have an
--- earlier time in keys.heads(mailboxId).
function oldest.readyOf(mailboxId, maxRoots)
  return oldest.among(keys.heads(mailboxId), maxRoots, function(rootId)
    return ofQueue(keys.ready(mailboxId, rootId))
  end)
end
