--- @include "lib/clock"
--- @include "lib/journal"
--- @include "lib/sorted"
--- @include "lib/id"
--- READY messages, first in, first out by the time they became ready. There is one sorted set per mailbox and scope, for
--- the message's scope and each of its ancestors, so that a receive for any subtree is one ZRANGE. Members are ids, which
--- are ordered within a millisecond. A retried message has a `place` in front of its id: the start of an id made when it
--- became ready again.
--- `heads` (per mailbox: root scopes by their oldest message) and `oldestReady` (per space: mailboxes by theirs) give the
--- age of the oldest message without a scan. They are exact to the second, so that a queue that moves thousands of
--- messages a second does not update them for each.
local ready = {}

--- The place of a message that is ready again since `at`.
function ready.placeAt(at)
  return idHead(at) .. string.format('%03x ', fraction)
end

--- Adds a member to a set of heads, or moves it to an earlier time.
local function advance(key, at, atText, member)
  local known = sorted.score(key, member)
  if not known or at < tonumber(known) then sorted.add(key, atText, member) end
end

--- Adds a message that is ready since `at` (a number, and as text). member: its id, after its place if it has one.
function ready.add(mailboxId, path, member, at, atText)
  local rootQueue = keys.ready(mailboxId, path[1])
  if at < now or sorted.isEmpty(rootQueue) then
    advance(keys.heads(mailboxId), at, atText, path[1])
    advance(keys.oldestReady(), at, atText, mailboxId)
  end
  sorted.add(rootQueue, atText, member)
  for depth = 2, #path do sorted.add(keys.ready(mailboxId, path[depth]), atText, member) end
  journal.wake(mailboxId .. '/' .. table.concat(path, '/'))
end

--- The first member of a scope's queue and the time since which it is ready; nil if the queue is empty.
function ready.first(mailboxId, scopeId)
  return sorted.first(keys.ready(mailboxId, scopeId))
end

--- The time since which a message is ready.
function ready.since(mailboxId, path, member)
  return sorted.score(keys.ready(mailboxId, path[1]), member)
end

--- Removes a message that is ready since `at`.
function ready.remove(mailboxId, path, member, at)
  for _, scopeId in ipairs(path) do sorted.remove(keys.ready(mailboxId, scopeId), member) end
  local _, next = ready.first(mailboxId, path[1])
  if next and math.floor(next / 1000) == math.floor(at / 1000) then return end
  local heads, oldest = keys.heads(mailboxId), keys.oldestReady()
  if next then sorted.add(heads, next, path[1]) else sorted.remove(heads, path[1]) end
  local _, head = sorted.first(heads)
  if head then sorted.add(oldest, head, mailboxId) else sorted.remove(oldest, mailboxId) end
end
