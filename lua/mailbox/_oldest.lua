--- @export oldest firstOf
--- The time since which the oldest message of a mailbox is ready; mailbox/_gauges has that of a space.
local oldest = {}

--- The first members of a set of heads, all of one second, because heads are exact only to the second; at most `maxMembers`.
local function firstOf(key, maxMembers)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if not head then return {} end
  return redis.call('ZRANGE', key, '-inf', string.format('%d', head - head % 1000 + 999), 'BYSCORE', 'LIMIT', 0, maxMembers)
end

--- The time since which a mailbox's oldest READY message is ready, or false. It is exact if at most `maxRoots` root scopes
--- have one of the same second; otherwise it may be a later one of that second.
function oldest.readyOf(mailboxId, maxRoots)
  local first = math.huge
  for _, rootId in ipairs(firstOf(keys.heads(mailboxId), maxRoots)) do
    local at = redis.call('ZRANGE', keys.ready(mailboxId, rootId), 0, 0, 'WITHSCORES')[2]
    first = math.min(first, tonumber(at) or first)
  end
  return first < math.huge and first
end
