--- @include "lib/journal"
--- @include "lib/later"
--- @include "lib/id"
--- READY messages, first in, first out by the moment they became ready. One sorted set per mailbox and scope, for the
--- message's scope and each scope above it, so that a receive for any subtree is one ZRANGE. Members are ids, which are
--- in order within one millisecond; in front of one that has been given back stands what an id of that later moment
--- would begin with, the message's `place`.
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by
--- theirs) answer "how old is the oldest" without a scan. They are kept to the second: a queue that moves thousands
--- of messages a second does not pay for them with each.
local ready = {}
--- By key: the front of the queues that this run has read, and which queues it knows not to be empty.
local fronts, filled

function ready.begin()
  fronts, filled = {}, {}
end

--- The place of a message that is given back, ready since `at`.
function ready.placeAt(at)
  return idHead(at) .. string.format('%03x ', fraction)
end

--- Adds a message that is ready since `at` (number and text). member: its id, behind its place if it has one.
function ready.add(mailboxId, path, member, at, atText)
  for depth, scopeId in ipairs(path) do
    local key = keys.ready(mailboxId, scopeId)
    if depth == 1 and (at < now or not filled[key]) then
      later.settle(key)
      if at < now or redis.call('ZCARD', key) == 0 then
        redis.call('ZADD', keys.heads(mailboxId), 'LT', atText, scopeId)
        redis.call('ZADD', keys.oldestReady(), 'LT', atText, mailboxId)
      end
      filled[key] = true
    end
    later.enter(key, atText, member)
    fronts[key] = nil
  end
  journal.wake(mailboxId .. '/' .. joined(path, '/'))
end

--- What is at the front of a queue: members and their moments, of which those before `at` are taken out. A run that
--- takes several reads twice as many each time.
local function front(key)
  local known = fronts[key]
  if known and (known.entries[known.at] or known.isWhole) then return known end
  local last = known and 2 * known.last + 1 or 1
  later.settle(key)
  local entries = redis.call('ZRANGE', key, '0', string.format('%d', last), 'WITHSCORES')
  known = { entries = entries, at = 1, last = last, isWhole = #entries < 2 * last + 2 }
  fronts[key] = known
  return known
end

--- The member that is first in the queue of a scope, and its moment; nil when the queue is empty.
function ready.first(mailboxId, scopeId)
  local head = front(keys.ready(mailboxId, scopeId))
  return head.entries[head.at], head.entries[head.at + 1]
end

--- The moment at which a message became ready.
function ready.since(mailboxId, path, member)
  local ofRoot = keys.ready(mailboxId, path[1])
  later.settle(ofRoot)
  return redis.call('ZSCORE', ofRoot, member)
end

--- Takes a message out, which became ready at `at`.
function ready.remove(mailboxId, path, member, at)
  local ofRoot = keys.ready(mailboxId, path[1])
  for depth, scopeId in ipairs(path) do
    local key = depth == 1 and ofRoot or keys.ready(mailboxId, scopeId)
    local known = fronts[key]
    later.leave(key, member)
    if known and known.entries[known.at] == member then known.at = known.at + 2 else fronts[key] = nil end
  end
  filled[ofRoot] = nil
  local oldest = front(ofRoot)
  local next = oldest.entries[oldest.at + 1]
  if next and math.floor(next / 1000) == math.floor(at / 1000) then return end
  if next then redis.call('ZADD', keys.heads(mailboxId), next, path[1]) else redis.call('ZREM', keys.heads(mailboxId), path[1]) end
  local head = redis.call('ZRANGE', keys.heads(mailboxId), 0, 0, 'WITHSCORES')[2]
  if head then redis.call('ZADD', keys.oldestReady(), head, mailboxId) else redis.call('ZREM', keys.oldestReady(), mailboxId) end
end
