--- @include lib/queue lib/sorted allowance/_waiter
--- Grants waiters their units, which have been used in `source` (an allowance.read) already. For each new grant up to two
--- grants of past windows leave heldGrants, so that past grants never accumulate.
function waiter.grant(granted, source, at)
  local held, endsAt = keys.heldGrants(), string.format('%d', source.windowEndsAt)
  if queue.isStored(held) then
    for _, id in ipairs(redis.call('ZRANGE', held, '-inf', at, 'BYSCORE', 'LIMIT', 0, 2 * #granted)) do sorted.remove(held, id) end
  end
  for _, record in ipairs(granted) do
    waiter.finish(record, 'GRANTED', at, emit.waiter.granted)
    sorted.add(held, endsAt, record.id)
  end
end
