--- @include lib/hooks pool/_hold pool/_pool
--- What the room adds to the work of others: see lib/hooks.

inRun.holds = {}

function inRun.holds.index(scopeId)
  return keys.scopeHolds(scopeId)
end

function inRun.holds.row(id)
  return rows.hold(hold.shown(hold.view(id)))
end

--- WAITING holds, oldest first.
function waiting.waitingHolds(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.waitingHolds(), 0, maxRows), maxRows, function(id)
    local record = hold.load(id, '@waitingHold')
    record.position = redis.call('ZRANK', keys.liveHolds(record.poolId), id) + 1
    record.blockedBy = record.position > 1 and 'HEAD_OF_LINE'
      or pool.fits(pool.read(record.poolId), record.units) and 'AGENTS' or 'UNITS'
    return rows.waitingHold(record)
  end)
end

--- HELD holds, the earliest end of lease first.
function waiting.heldHolds(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.holdLeases(), 0, maxRows), maxRows, function(id)
    return rows.heldHold(hold.load(id, '@heldHold'))
  end)
end
