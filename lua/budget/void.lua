--- Releases the remainder of a reservation.
--- @request write
--- @space reservations:ACTIVE reservations:VOIDED
--- @args budgetId reservationId workKey tail
--- @reply id amountMinor overdrawnMinor replay reservation:reservation balances:balances
--- @include budget/_work
local asked = { kind = 'VOID', budgetId = budgetId, reservationId = reservationId, workKey = workKey, tail = tail }
local replay = work.replayOf(asked)
if replay then return replay end
local record = work.reservation(asked)

return work.book(asked, record, emit.budget.voided, record.remainingMinor, 'voidedMinor', 'available', 'VOIDED')
