--- Settles part of a reservation, or all of it; what is left stays reserved (contract section 4, Reservation).
--- @args amountMinor
--- @gather
--- @include "lib/call"
--- @include "lib/money"
--- @include "budget/_entry"
local replay = call.open('reservations:ACTIVE', 'reservations:SETTLED') or entry.replayOf('SETTLE', amountMinor)
if replay then return replay end
local record = entry.reservation()
if money.exceeds(amountMinor, record.remainingMinor) then refuse('SETTLEMENT_EXCEEDS_RESERVATION', record.remainingMinor) end

return entry.record(record, 'SETTLE', 'settled', amountMinor, 'settledMinor', 'settled', 'SETTLED')
