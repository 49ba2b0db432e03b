--- Settles part of a reservation, or all of it; what is left stays reserved (contract section 4, Reservation).
--- @args amountMinor
--- @reply id amountMinor replay reservation:reservation balances:balances
--- @gather
--- @include "lib/call"
--- @include "lib/money"
--- @include "budget/_work"
local replay = call.open('reservations:ACTIVE', 'reservations:SETTLED') or work.replayOf('SETTLE', amountMinor)
if replay then return replay end
local record = work.reservation()
if money.exceeds(amountMinor, record.remainingMinor) then refuse('SETTLEMENT_EXCEEDS_RESERVATION', record.remainingMinor) end

return work.record(record, 'SETTLE', emit.budget.settled, amountMinor, 'settledMinor', 'settled', 'SETTLED')
