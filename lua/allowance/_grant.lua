--- @include "allowance/_allowance"
--- @include "allowance/_waiter"
--- Grants waiters their units, which are used already in `from` (an allowance.read). Those whose window is over leave
--- heldGrants, two for each new one, so it never grows by what is over.
function waiter.grant(granted, from, at)
  local held, endsAt = keys.heldGrants(), string.format('%d', from.windowEndsAt)
  -- A sweep may have come here before.
  if unit.isChanged(held) then unit.write() end
  for _, id in ipairs(redis.call('ZRANGE', held, '-inf', at, 'BYSCORE', 'LIMIT', 0, 2 * #granted)) do sorted.remove(held, id) end
  for _, record in ipairs(granted) do
    waiter.finish(record, 'GRANTED', at, emit.waiter.granted)
    sorted.add(held, endsAt, record.id)
  end
end
