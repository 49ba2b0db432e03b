--- READY messages, first in, first out by the moment they became ready. One sorted set per mailbox and scope, for the
--- message's scope and each scope above it, so that a receive for any subtree is one ZRANGE. Members carry the
--- mailbox's counter in front of the id: unique, and in order within one millisecond.
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by
--- theirs) answer "how old is the oldest" without a scan.
local ready = {}

function ready.member(sequence, messageId)
  return string.format('%012d', sequence) .. messageId
end

--- Adds a message that is ready since `at` and returns its sequence number.
function ready.add(mailboxId, path, messageId, at)
  local sequence = redis.call('HINCRBY', keys.mailbox(mailboxId), 'sequence', 1)
  local member = ready.member(sequence, messageId)
  for _, scopeId in ipairs(path) do redis.call('ZADD', keys.ready(mailboxId, scopeId), at, member) end
  redis.call('ZADD', keys.heads(mailboxId), 'LT', at, path[1])
  redis.call('ZADD', keys.oldestReady(), 'LT', at, mailboxId)
  redis.call('HINCRBY', keys.mailbox(mailboxId), 'ready', 1)
  journal.ready = journal.ready .. mailboxId .. '/' .. table.concat(path, '/') .. ','
  return sequence
end

--- Takes a message out, which became ready `at` that moment.
function ready.remove(mailboxId, path, member, at)
  for _, scopeId in ipairs(path) do redis.call('ZREM', keys.ready(mailboxId, scopeId), member) end
  redis.call('HINCRBY', keys.mailbox(mailboxId), 'ready', -1)
  local head = redis.call('ZRANGE', keys.ready(mailboxId, path[1]), 0, 0, 'WITHSCORES')[2]
  if head and tonumber(head) == at then return end
  if head then redis.call('ZADD', keys.heads(mailboxId), head, path[1]) else redis.call('ZREM', keys.heads(mailboxId), path[1]) end
  head = redis.call('ZRANGE', keys.heads(mailboxId), 0, 0, 'WITHSCORES')[2]
  if head then redis.call('ZADD', keys.oldestReady(), head, mailboxId) else redis.call('ZREM', keys.oldestReady(), mailboxId) end
end
