--- @include "lib/timer"
--- @include "allowance/_allowance"
--- @include "allowance/_queue"
--- @include "allowance/_grant"
--- @include "allowance/_waiter"
--- @include "allowance/_cancel"
--- Grants from the head of an allowance's queue at the moment `at`, at most `most` waiters, and arms the moment at
--- which the next grant becomes possible: `at` itself when there may be more to do. The queue keeps its order however
--- often that is: while anybody is in it, nobody else gets units. Returns the number of waiters that left.
local function serve(allowanceId, at, most)
  -- Most heads are blocked at once: what is read beyond them is read for nothing.
  most = math.min(most, 25)
  if most < 1 then
    timer.arm('allowance:grant', allowanceId, at)
    return 0
  end
  -- A sweep may have come here before.
  if unit.isChanged(keys.waiterQueue(allowanceId)) then unit.write() end
  local ids = redis.call('LRANGE', keys.waiterQueue(allowanceId), 0, most - 1)
  local live = #ids > 0 and sorted.scores(keys.liveWaiters(allowanceId), ids)
  local record = allowance.read(allowanceId, at)
  local expired, granted, cancelled, passed, blockedUntil = {}, {}, {}, 0, nil
  for i, id in ipairs(ids) do
    if live[i] then
      local head = waiter.read(id)
      local possibleAt = allowance.nextMoment(record, head.units)
      local cancel = scope.cancelOf(scope.path(head.scopeId))
      if cancel then
        cancelled[#cancelled + 1] = { head, cancel }
      elseif head.expiresAt <= at then
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
  for _, one in ipairs(cancelled) do waiter.stop(unpack(one)) end
  for _, head in ipairs(expired) do waiter.finish(head, 'EXPIRED', at, emit.waiter.expired) end
  if granted[1] then waiter.grant(granted, record, at) end
  if blockedUntil or #ids == most then
    if passed > 0 then unit.command('LTRIM', keys.waiterQueue(allowanceId), passed, -1) end
    timer.arm('allowance:grant', allowanceId, blockedUntil or at)
  else
    queue.clear(allowanceId)
    timer.disarm('allowance:grant', allowanceId)
  end
  return #cancelled + #expired + #granted
end
