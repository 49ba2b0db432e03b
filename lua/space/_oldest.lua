--- @include "lib/space"
--- Since when the oldest of the space waits.
local oldest = {}

--- The members of a set of heads within the second of the first, at most `most`: heads are kept to the second.
local function firstOf(key, most)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if not head then return {} end
  return redis.call('ZRANGE', key, '-inf', string.format('%d', head - head % 1000 + 999), 'BYSCORE', 'LIMIT', 0, most)
end

--- The moment of the oldest READY message, or false. It is exact where no more than `most` mailboxes, and root scopes
--- of each, have one of its second; else it may be a later one of that second.
function oldest.ready(most)
  local oldestReady = false
  for _, mailboxId in ipairs(firstOf(keys.oldestReady(), most)) do
    for _, rootId in ipairs(firstOf(keys.heads(mailboxId), most)) do
      local at = tonumber(redis.call('ZRANGE', keys.ready(mailboxId, rootId), 0, 0, 'WITHSCORES')[2])
      if at and at < (oldestReady or math.huge) then oldestReady = at end
    end
  end
  return oldestReady
end

--- The moment of the oldest WAITING waiter as text, or false.
function oldest.waiter()
  return redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2] or false
end
