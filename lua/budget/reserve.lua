--- Reserves an amount of a budget (contract section 4, Reservation). settleBy: epoch milliseconds; '' where absent.
--- @args budgetId scopeId holder amountMinor settleBy tail
--- @reply id balances:balances
--- @gather
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/later"
--- @include "lib/money"
--- @include "scope/_scope"
--- @include "lib/timer"
--- @include "budget/_budget"
--- @include "budget/_reservation"
local replay, maxArmedTimers, armed = call.open('maxArmedTimers', 'timers:ARMED', 'reservations:ACTIVE')
if replay then return replay end
local record = budget.read(budgetId)
if settleBy ~= '' and tonumber(settleBy) <= now then refuse('VALIDATION_FAILED', 'settleBy must lie in the future') end
plan.needOperation()
if settleBy ~= '' and (tonumber(armed) or 0) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
local path = scope.path(scopeId)
scope.check(path)
if money.exceeds(amountMinor, record.available) then refuse('INSUFFICIENT_BUDGET', record.available) end

if not path then scope.create(scopeId) end
local id = newId(tail)
local made = { scopeId = scopeId, reservationId = id, amountMinor = amountMinor }
local key = keys.reservation(id)
redis.call('HSET', key, 'budgetId', budgetId, 'scopeId', scopeId, 'holder', holder, 'state', 'ACTIVE', 'remainingMinor', amountMinor)
later.enter(keys.budgetReservations(budgetId, 'ACTIVE'), '0', id)
later.enter(keys.scopeReservations(scopeId), '0', id)
budget.move(record, 'available', 'reserved', amountMinor)
reservation.enter(made, 'ACTIVE')
if settleBy ~= '' then
  redis.call('HSET', key, 'settleBy', settleBy)
  timer.arm('budget:reservation:' .. spaceNumber .. ':' .. id, tonumber(settleBy))
  count.add(count.space, 'timers:ARMED', 1)
end
emit.budget.reserved(budgetId, made)
return call.done({ id = id, balances = record })
