--- @include lib/waiting pool/_hold pool/_pool

--- WAITING holds, oldest first.
function waiting.waitingHolds(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.waitingHolds(), 0, maxRows), maxRows, function(id)
    local record = hold.load(id, 'poolId', 'scopeId', 'holder', 'holderSession', 'units', 'expiresAt')
    record.position = redis.call('ZRANK', keys.liveHolds(record.poolId), id) + 1
    record.blockedBy = record.position > 1 and 'HEAD_OF_LINE'
      or pool.fits(pool.read(record.poolId), record.units) and 'AGENTS' or 'UNITS'
    return rows.waitingHold(record)
  end)
end

--- HELD holds, the earliest end of lease first.
function waiting.heldHolds(maxRows)
  return rowsOf(redis.call('ZRANGE', keys.holdLeases(), 0, maxRows), maxRows, function(id)
    return rows.heldHold(hold.load(id, 'poolId', 'scopeId', 'holder', 'holderSession', 'units', 'fence', 'heldAt', 'leaseExpiresAt'))
  end)
end
