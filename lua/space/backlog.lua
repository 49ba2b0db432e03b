--- Counters of the space's record, by their names, and the moments since which the oldest READY message and the oldest
--- WAITING waiter wait (false: none does).
--- @args counters
--- @include "lib/call"
--- @include "webhook/_unread"
local names = {}
for name in string.gmatch(counters, '[^,]+') do names[#names + 1] = name end
local values = { call.read(unpack(names)) }
for i, name in ipairs(names) do
  if name == 'outbox:UNREAD' then values[i] = unread() end
end

--- The members of a set of heads within the second of the first: heads are kept to the second.
local function firstOf(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if not head then return {} end
  return redis.call('ZRANGE', key, '-inf', string.format('%d', head - head % 1000 + 999), 'BYSCORE', 'LIMIT', 0, 50)
end

local oldestReady = false
for _, mailboxId in ipairs(firstOf(keys.oldestReady())) do
  for _, rootId in ipairs(firstOf(keys.heads(mailboxId))) do
    local at = tonumber(redis.call('ZRANGE', keys.ready(mailboxId, rootId), 0, 0, 'WITHSCORES')[2])
    if at and at < (oldestReady or math.huge) then oldestReady = at end
  end
end
return call.answer(now, values, oldestReady, redis.call('ZRANGE', keys.waitingWaiters(), 0, 0, 'WITHSCORES')[2] or false)
