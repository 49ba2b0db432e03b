--- @include "allowance/_allowance"
--- @include "allowance/_waiter"
--- Grants waiters their units, which are used already in `from` (an allowance.read). Those whose window is over leave
--- heldGrants, two for each new one, so it never grows by what is over.
function waiter.grant(waiters, from, at)
  allowance.save(from)
  waiter.finish(waiters, 'GRANTED', at, emit.waiter.granted)
  local over = redis.call('ZRANGE', keys.heldGrants(), '-inf', at, 'BYSCORE', 'LIMIT', 0, 2 * #waiters)
  if over[1] then redis.call('ZREM', keys.heldGrants(), unpack(over)) end
  local held = {}
  for i, record in ipairs(waiters) do held[2 * i - 1], held[2 * i] = from.windowEndsAt, record.id end
  redis.call('ZADD', keys.heldGrants(), unpack(held))
end
