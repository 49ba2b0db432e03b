--- @include "lib/count"
--- @include "lib/timer"
--- @include "lib/journal"
--- What every transition of a reservation shares (contract section 4).
local reservation = {}

--- Its fields in the order of the answers, the id last. What is past its settleBy is overdue, swept or not.
function reservation.row(reservationId)
  local row = redis.call('HMGET', keys.reservation(reservationId), 'scopeId', 'holder', 'amountMinor', 'settledMinor',
    'voidedMinor', 'remainingMinor', 'state', 'settleBy', 'overdue', 'createdAt', 'closedAt')
  if row[7] == 'ACTIVE' and row[8] and tonumber(row[8]) <= now then row[9] = '1' end
  row[12] = reservationId
  return row
end

--- The budget's limit and its three balances.
function reservation.balances(budgetId)
  return redis.call('HMGET', keys.budget(budgetId), 'limitMinor', 'reserved', 'settled', 'available')
end

--- Says once that an ACTIVE reservation's settleBy has passed.
function reservation.becomeOverdue(reservationId)
  local budgetId, scopeId, state, overdue, settleBy = unpack(redis.call('HMGET', keys.reservation(reservationId), 'budgetId',
    'scopeId', 'state', 'overdue', 'settleBy'))
  if state ~= 'ACTIVE' or overdue == '1' or not settleBy or tonumber(settleBy) > now then return end
  redis.call('HSET', keys.reservation(reservationId), 'overdue', '1')
  journal.append('budget.reservation_overdue', budgetId, scopeId, '"reservationId":"' .. reservationId .. '","state":"ACTIVE"')
end

--- Takes an ACTIVE reservation to SETTLED or VOIDED.
function reservation.close(budgetId, reservationId, state)
  redis.call('HSET', keys.reservation(reservationId), 'state', state, 'closedAt', nowText)
  redis.call('ZREM', keys.budgetReservations(budgetId, 'ACTIVE'), reservationId)
  redis.call('ZADD', keys.budgetReservations(budgetId, state), 0, reservationId)
  local member = 'budget:reservation:' .. spaceId .. ':' .. reservationId
  if redis.call('HEXISTS', keys.reservation(reservationId), 'settleBy') == 1 then
    timer.disarm(member)
    count.add(count.space, 'timers:ARMED', -1)
  end
  count.add(count.space, 'reservations:ACTIVE', -1)
  count.add(count.space, 'reservations:' .. state, 1)
  redis.call('ZADD', keys.closed(), nowText, member)
end
