--- @export serveWaiters
--- @include lib/sorted lib/timer lib/unit allowance/_allowance allowance/_cancel allowance/_grant allowance/_queue
--- @include allowance/_waiter scope/_scope
--- Grants units at the time `at` to at most `maxWaiters` waiters from the head of the queue, and arms the timer for the next
--- possible grant: `at` itself if there may be more to do. While the queue is not empty nobody else gets units, so the order
--- holds over any number of steps. Returns the number of waiters that left.
local function serveWaiters(allowanceId, at, maxWaiters)
  -- Usually the head is blocked; reading far beyond it would be wasted.
  maxWaiters = math.min(maxWaiters, 25)
  if maxWaiters < 1 then
    timer.arm('allowance:grant', allowanceId, at)
    return 0
  end
  queue.needStored(keys.waiterQueue(allowanceId))
  local ids = redis.call('LRANGE', keys.waiterQueue(allowanceId), 0, maxWaiters - 1)
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
  if blockedUntil or #ids == maxWaiters then
    if passed > 0 then unit.command('LTRIM', keys.waiterQueue(allowanceId), passed, -1) end
    timer.arm('allowance:grant', allowanceId, blockedUntil or at)
  else
    queue.clear(allowanceId)
    timer.disarm('allowance:grant', allowanceId)
  end
  return #cancelled + #expired + #granted
end
