--- @include "lib/space"
--- Since when the oldest waits: of a mailbox here, of a space in mailbox/_gauges.
local oldest = {}

--- The members of a set of heads within the second of the first, at most `most`: heads are kept to the second.
local function firstOf(key, most)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if not head then return {} end
  return redis.call('ZRANGE', key, '-inf', string.format('%d', head - head % 1000 + 999), 'BYSCORE', 'LIMIT', 0, most)
end

--- The moment of a mailbox's oldest READY message, or false. It is exact where no more than `most` root scopes have one
--- of its second; else it may be a later one of that second.
function oldest.readyOf(mailboxId, most)
  local first = math.huge
  for _, rootId in ipairs(firstOf(keys.heads(mailboxId), most)) do
    local at = redis.call('ZRANGE', keys.ready(mailboxId, rootId), 0, 0, 'WITHSCORES')[2]
    first = math.min(first, tonumber(at) or first)
  end
  return first < math.huge and first
end
