--- @export serveHolds
--- @include lib/hooks lib/queue lib/queueTimer lib/sorted lib/unit pool/_agents pool/_hold pool/_pool
--- Grants units at the time `at` to at most `maxHolds` holds from the head of the queue. If there is more to do,
--- workers continue. Returns the number of holds that left.
local function serveHolds(poolId, at, maxHolds)
  maxHolds = math.min(maxHolds, 100)
  if maxHolds < 1 then
    queueTimer.serve('pool:grant', poolId, at)
    return 0
  end
  if sorted.isEmpty(keys.liveHolds(poolId)) and unit.lengthOf(keys.poolQueue(poolId)) == 0 then
    freed.units('POOL', poolId, at)
    return 0
  end
  local source, needsAgents = pool.read(poolId), false
  local left, nextAt = queue.serve('pool:hold', poolId, at, maxHolds, function(head)
    if not pool.fits(source, head.units) then return false end
    if not agents.fit(head.units) then
      needsAgents = true
      return false
    end
    hold.grant(head, source, at)
  end)
  if needsAgents then
    -- No call announces that an agent elsewhere in the organization has ended.
    queueTimer.askAgain('pool:agents', poolId)
  elseif nextAt then
    queueTimer.serve('pool:grant', poolId, nextAt)
  elseif nextAt == nil then
    freed.units('POOL', poolId, at)
  end
  return left
end
