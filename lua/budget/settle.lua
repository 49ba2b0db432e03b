--- Settles part of a reservation, or all of it; what is left stays reserved (contract section 4, Reservation).
--- @args amountMinor
--- @gather
--- @include "lib/call"
--- @include "lib/money"
--- @include "budget/_entry"
local replay = call.open() or entry.replayOf('SETTLE', amountMinor)
if replay then return replay end
local remaining = entry.remaining()
if money.exceeds(amountMinor, remaining) then refuse('SETTLEMENT_EXCEEDS_RESERVATION', remaining) end

return entry.record('SETTLE', 'settled', amountMinor, 'settledMinor', 'settled', 'SETTLED')
