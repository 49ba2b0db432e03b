--- Reserves an amount of a budget (contract section 4, Reservation). settleBy: epoch milliseconds; '' where absent.
--- @args budgetId scopeId holder amountMinor settleBy tail
--- @gather
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/money"
--- @include "lib/scope"
--- @include "lib/timer"
--- @include "budget/_reservation"
local replay, maxArmedTimers, armed = call.open('maxArmedTimers', 'timers:ARMED')
if replay then return replay end
local available = redis.call('HGET', keys.budget(budgetId), 'available')
if not available then refuse('BUDGET_NOT_FOUND') end
if settleBy ~= '' and tonumber(settleBy) <= now then refuse('VALIDATION_FAILED', 'settleBy must lie in the future') end
call.needOperation()
if settleBy ~= '' and (tonumber(armed) or 0) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
local path = scope.path(scopeId)
scope.check(path)
if money.exceeds(amountMinor, available) then refuse('INSUFFICIENT_BUDGET', available) end

if not path then scope.create(scopeId) end
local id = newId(tail)
redis.call('HSET', keys.reservation(id), 'budgetId', budgetId, 'scopeId', scopeId, 'holder', holder, 'state', 'ACTIVE',
  'amountMinor', amountMinor, 'settledMinor', '0', 'voidedMinor', '0', 'remainingMinor', amountMinor, 'createdAt', nowText)
redis.call('ZADD', keys.budgetReservations(budgetId, 'ACTIVE'), 0, id)
redis.call('ZADD', keys.scopeReservations(scopeId), 0, id)
money.move(keys.budget(budgetId), 'available', 'reserved', amountMinor)
count.add(count.space, 'reservations:ACTIVE', 1)
if settleBy ~= '' then
  redis.call('HSET', keys.reservation(id), 'settleBy', settleBy)
  timer.arm('budget:reservation:' .. spaceId .. ':' .. id, tonumber(settleBy))
  count.add(count.space, 'timers:ARMED', 1)
end
journal.append('budget.reserved', budgetId, scopeId,
  '"reservationId":"' .. id .. '","state":"ACTIVE","amountMinor":"' .. amountMinor .. '"')
return call.done(id, now, reservation.balances(budgetId))
