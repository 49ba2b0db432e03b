--- @export ready
--- @include lib/clock lib/count lib/id lib/journal lib/records lib/sorted mailbox/_message mailbox/_paused mailbox/_turns
--- READY messages: the highest priority first, and within one first in, first out by the moment they became ready. One sorted
--- set per mailbox and scope, for the message's scope and each scope above it, so that a receive for any subtree is one
--- ZRANGE. The score is that moment, less 10^13 for each step of priority, so the first member is always the next one.
--- Members are ids, which are in order within one millisecond; in front of one that has been given back stands what an id of
--- that later moment would begin with, the message's `place`. One with a priority, a key, prerequisites or a trace has a place
--- from the start: whatever moves a message reads the place, and only then looks for these.
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by
--- theirs) answer "how old is the oldest" without a scan (mailbox/_oldest). They are never later than that. They are kept to
--- the second: a queue that moves thousands of messages a second does not pay for them with each. The head of a queue stays
--- as it is while the next message has a priority.
local ready = {}
--- More than any moment in milliseconds.
local priorityStep = 1e13

--- The place of a message that is ready again since `at`.
function ready.placeAt(at)
  return idHead(at) .. string.format('%03x ', at == now and fraction or 0)
end

--- The score of a message that is ready since `at`, as text.
local function scoreOf(at, priority)
  return string.format('%d', at - priority * priorityStep)
end

--- The priority and the moment that a score stands for.
function ready.read(score)
  local priority = -math.floor(score / priorityStep)
  return priority, score + priority * priorityStep
end

--- The lowest score of a priority, as text.
function ready.leastScore(priority)
  return scoreOf(0, priority)
end

--- Adds a member to a set of heads, or moves it to an earlier time.
local function advance(key, at, atText, member)
  local known = sorted.score(key, member)
  if not known or at < tonumber(known) then sorted.add(key, atText, member) end
end

--- Adds a message that is ready since `at` (a number, and as text). member: its id, after its place if it has one; score:
--- that of one with a priority, else nil.
function ready.add(mailboxId, path, member, at, atText, score)
  local rootQueue = keys.ready(mailboxId, path[1])
  local isFirst = sorted.isEmpty(rootQueue)
  if isFirst then turns.join(mailboxId, path[1]) end
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

--- Adds a message that was given back, DELAYED or BLOCKED and is ready since `at`; its state is the caller's.
function ready.put(record, path, box, at)
  records.set(box, 'ready', box.ready + 1)
  local priority = record.place and message.load(record.id, 'priority').priority or 0
  records.set(record, 'place', ready.placeAt(at))
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at), priority > 0 and scoreOf(at, priority))
end

--- Adds a message in the place that it had in the queue before; its state is the caller's. score: that of then, as text.
function ready.restore(record, path, box, score)
  local _, at = ready.read(tonumber(score))
  records.set(box, 'ready', box.ready + 1)
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at), score)
end

--- The member that is first in the queue of a scope, and its score; nil when the queue is empty.
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
    -- A minus: the oldest one stands somewhere behind.
    return
  else
    sorted.add(heads, next, path[1])
  end
  local _, head = sorted.first(heads)
  if head then sorted.add(oldest, head, mailboxId) else sorted.remove(oldest, mailboxId) end
end
