--- @include lib/clock lib/hooks lib/sorted lib/unit pool/_hold scope/_retain scope/_scope
--- Removes finished holds. A busy pool has many, which are of little use afterwards; their events are kept longer.
local keptMs = 86400000

function retained.steps.holds(_, maxRecords)
  local through = string.format('%d', now - keptMs)
  local ended = redis.call('ZRANGE', keys.finishedHolds(), '-inf', through, 'BYSCORE', 'LIMIT', 0, maxRecords,
    'WITHSCORES')
  for i = 1, #ended, 2 do
    local holdId = ended[i]
    local record = hold.load(holdId, 'poolId', 'scopeId', 'state')
    unit.delete(keys.hold(holdId))
    sorted.remove(keys.finishedHolds(), holdId)
    sorted.remove(keys.holds(), holdId)
    sorted.remove(keys.poolHolds(record.poolId), holdId)
    sorted.remove(keys.scopeHolds(record.scopeId), holdId)
    hold.leave(record.state)
    scope.release(record.scopeId, tonumber(ended[i + 1]))
  end
  return #ended == 2 * maxRecords
end
