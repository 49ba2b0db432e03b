--- @include "lib/timer"
--- @include "allowance/_allowance"
--- @include "allowance/_queue"
--- @include "allowance/_grant"
--- @include "allowance/_waiter"
--- Grants from the head of an allowance's queue at the moment `at`, at most `most` waiters, and arms the moment at
--- which the next grant becomes possible: `at` itself when there may be more to do. The queue keeps its order however
--- often that is: while anybody is in it, nobody else gets units. Returns the number of waiters that left.
local function serve(allowanceId, at, most)
  -- Most heads are blocked at once: what is read beyond them is read for nothing.
  most = math.min(most, 25)
  local member = 'allowance:grant:' .. spaceNumber .. ':' .. allowanceId
  if most < 1 then
    timer.arm(member, at)
    return 0
  end
  local ids = redis.call('LRANGE', keys.waiterQueue(allowanceId), 0, most - 1)
  local live = #ids > 0 and redis.call('ZMSCORE', keys.liveWaiters(allowanceId), unpack(ids))
  local record = allowance.read(allowanceId, at)
  local expired, granted, passed, blockedUntil = {}, {}, 0, nil
  for i, id in ipairs(ids) do
    if live[i] then
      local head = waiter.read(id)
      local possibleAt = allowance.nextMoment(record, head.units)
      if head.expiresAt <= at then
        expired[#expired + 1] = head
      elseif possibleAt > at then
        blockedUntil = possibleAt
        break
      else
        allowance.use(record, head.units)
        granted[#granted + 1] = head
      end
    end
    passed = i
  end
  if expired[1] then waiter.finish(expired, 'EXPIRED', at, emit.waiter.expired) end
  if granted[1] then waiter.grant(granted, record, at) end
  if passed > 0 then redis.call('LTRIM', keys.waiterQueue(allowanceId), passed, -1) end
  if blockedUntil or #ids == most then
    timer.arm(member, blockedUntil or at)
  else
    queue.clear(allowanceId)
    timer.disarm(member)
  end
  return #expired + #granted
end
