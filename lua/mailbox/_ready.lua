--- READY messages, first in, first out by the moment they became ready. One sorted set per mailbox and scope, for the
--- message's scope and each scope above it, so that a receive for any subtree is one ZRANGE. Members carry the
--- mailbox's counter in front of the id: unique, and in order within one millisecond.
--- `heads` (per mailbox: its root scopes by their oldest message) and `oldestReady` (per space: its mailboxes by
--- theirs) answer "how old is the oldest" without a scan. They are kept to the second: a queue that moves thousands
--- of messages a second does not pay for them with each.
local ready = {}

function ready.member(sequence, messageId)
  return string.format('%012d', sequence) .. messageId
end

--- Adds a message that is ready since `at` (number and text), with the mailbox's counter for it.
function ready.add(mailboxId, path, messageId, at, atText, sequence)
  local member = ready.member(sequence, messageId)
  for _, scopeId in ipairs(path) do redis.call('ZADD', keys.ready(mailboxId, scopeId), atText, member) end
  if at < now or redis.call('ZCARD', keys.ready(mailboxId, path[1])) == 1 then
    redis.call('ZADD', keys.heads(mailboxId), 'LT', atText, path[1])
    redis.call('ZADD', keys.oldestReady(), 'LT', atText, mailboxId)
  end
  journal.ready = journal.ready .. mailboxId .. '/' .. table.concat(path, '/') .. ','
end

--- Takes a message out, which became ready at `at`. `next` is the moment of the root's next message if known.
function ready.remove(mailboxId, path, member, at, next)
  for _, scopeId in ipairs(path) do redis.call('ZREM', keys.ready(mailboxId, scopeId), member) end
  next = next or redis.call('ZRANGE', keys.ready(mailboxId, path[1]), 0, 0, 'WITHSCORES')[2]
  if next and math.floor(next / 1000) == math.floor(at / 1000) then return end
  if next then redis.call('ZADD', keys.heads(mailboxId), next, path[1]) else redis.call('ZREM', keys.heads(mailboxId), path[1]) end
  local head = redis.call('ZRANGE', keys.heads(mailboxId), 0, 0, 'WITHSCORES')[2]
  if head then redis.call('ZADD', keys.oldestReady(), head, mailboxId) else redis.call('ZREM', keys.oldestReady(), mailboxId) end
end
