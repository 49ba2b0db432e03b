--- @export ready
--- @include lib/clock lib/count lib/id lib/journal lib/records lib/sorted mailbox/_paused mailbox/_turns
--- READY messages, first in, first out by the moment they became ready. One sorted set per mailbox and scope, for the
--- message's scope and each scope above it, so that a receive for any subtree is one ZRANGE. Members are ids, which are
--- in order within one millisecond; in front of one that has been given back stands what an id of that later moment
--- would begin with, the message's `place`.
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by
--- theirs) answer "how old is the oldest" without a scan. They are kept to the second: a queue that moves thousands
--- of messages a second does not pay for them with each.
local ready = {}

--- The place of a message that is ready again since `at`.
function ready.placeAt(at)
  return idHead(at) .. string.format('%03x ', at == now and fraction or 0)
end

--- Adds a member to a set of heads, or moves it to an earlier time.
local function advance(key, at, atText, member)
  local known = sorted.score(key, member)
  if not known or at < tonumber(known) then sorted.add(key, atText, member) end
end

--- Adds a message that is ready since `at` (a number, and as text). member: its id, after its place if it has one.
function ready.add(mailboxId, path, member, at, atText)
  local rootQueue = keys.ready(mailboxId, path[1])
  local isFirst = sorted.isEmpty(rootQueue)
  if isFirst then turns.join(mailboxId, path[1]) end
  if isFirst or at < now then
    advance(keys.heads(mailboxId), at, atText, path[1])
    advance(keys.oldestReady(), at, atText, mailboxId)
    if at < now and count.read('paused') > 0 then paused.forget(mailboxId, path) end
  end
  sorted.add(rootQueue, atText, member)
  for depth = 2, #path do sorted.add(keys.ready(mailboxId, path[depth]), atText, member) end
  journal.wake(mailboxId .. '/' .. table.concat(path, '/'))
end

--- Adds a message that was given back or DELAYED and is ready since `at`; its state is the caller's.
function ready.put(record, path, box, at)
  records.set(box, 'ready', box.ready + 1)
  records.set(record, 'place', ready.placeAt(at))
  ready.add(record.mailboxId, path, record.place .. record.id, at, string.format('%d', at))
end

--- The member that is first in the queue of a scope, and its moment; nil when the queue is empty.
function ready.first(mailboxId, scopeId)
  return sorted.first(keys.ready(mailboxId, scopeId))
end

--- The time since which a message is ready.
function ready.since(mailboxId, path, member)
  return sorted.score(keys.ready(mailboxId, path[1]), member)
end

--- Removes a message that is ready since `at` (text).
function ready.remove(mailboxId, path, member, at)
  local rootQueue = keys.ready(mailboxId, path[1])
  sorted.remove(rootQueue, member)
  for depth = 2, #path do sorted.remove(keys.ready(mailboxId, path[depth]), member) end
  local _, next = sorted.first(rootQueue)
  if next and string.sub(next, 1, -4) == string.sub(at, 1, -4) then return end
  local heads, oldest = keys.heads(mailboxId), keys.oldestReady()
  if next then
    sorted.add(heads, next, path[1])
  else
    sorted.remove(heads, path[1])
    turns.leave(mailboxId, path[1])
  end
  local _, head = sorted.first(heads)
  if head then sorted.add(oldest, head, mailboxId) else sorted.remove(oldest, mailboxId) end
end
