--- Reserves an amount in a budget and in all above it, or replies with the current state of the reservation that the
--- same workKey made. settleBy: epoch milliseconds or ''. onOverdue: SETTLE or ''.
--- @request write
--- @space maxArmedTimers timers:ARMED reservations:ACTIVE
--- @args budgetId scopeId holder amountMinor settleBy workKey tail
--- @rare onOverdue
--- @reply id balances:balances first:reservation holder?
--- @gather
--- @include lib/call lib/caller lib/clock lib/count lib/id lib/maps lib/money lib/plan lib/refuse lib/sorted
--- @include lib/space lib/timer budget/_alerts budget/_ancestors budget/_budget budget/_overdue budget/_reservation
--- @include scope/_scope
local ownName = holder == '' and caller.needOwnName('holder') or nil
holder = ownName or holder
local maxArmedTimers, armed = keyspace.record.maxArmedTimers, count.ofSpace(keyspace.record, 'timers:ARMED')
if timer.nextDue <= now then overdue.catchUp() end
local record = budget.read(budgetId)
local ofKey = workKey ~= '' and keys.budgetWorkKeys(budgetId, 'RESERVE')
local known = ofKey and maps.get(ofKey, workKey)
if known then
  local firstId, first = string.match(known, '^(%S+) (%S+)$')
  if first ~= amountMinor then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  return call.answer({ id = firstId, balances = record, first = reservation.view(reservation.load(firstId)) },
    'syscall')
end
if settleBy ~= '' and tonumber(settleBy) <= now then refuse('VALIDATION_FAILED', 'settleBy must be in the future') end
local path = scope.path(scopeId)
scope.needRunning(path)
plan.needOperation()
if settleBy ~= '' and (tonumber(armed) or 0) >= tonumber(maxArmedTimers) then refuse('TIMERS_FULL', maxArmedTimers) end
scope.check(path)
local levels = not budget.isPlain(record) and ancestors.of(record)
if levels then
  ancestors.needAvailable(levels, amountMinor)
elseif money.exceeds(amountMinor, record.available) then
  ancestors.refuseShort(record)
end

path = path or scope.create(scopeId)
scope.addAlong(path, 'activeReservations', 1)
local id = newId(tail)
local created = { id = id, budgetId = budgetId, scopeId = scopeId, holder = holder, state = false,
  remainingMinor = amountMinor, settleBy = tonumber(settleBy), workKey = ofKey and workKey, reservationId = id,
  amountMinor = amountMinor, onOverdue = onOverdue ~= '' and onOverdue or nil }
reservation.insert(created)
reservation.enter(created, 'ACTIVE')
sorted.add(keys.budgetReservations(budgetId, 'ACTIVE'), '0', id)
sorted.add(keys.scopeReservations(scopeId), '0', id)
if levels then
  ancestors.move(levels, 'available', 'reserved', amountMinor)
else
  budget.move(record, 'available', 'reserved', amountMinor)
end
if created.settleBy then
  timer.arm('budget:reservation', id, created.settleBy)
  count.space('timers:ARMED', 1)
end
if ofKey then maps.put(ofKey, workKey, id .. ' ' .. amountMinor) end
emit.budget.reserved(budgetId, created)
if levels then alerts.emitReached(levels) end
return call.answer({ id = id, balances = record, holder = ownName }, 'operation')
