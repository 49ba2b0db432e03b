--- Releases the remainder of a reservation.
--- @reply id amountMinor overdrawnMinor replay reservation:reservation balances:balances
--- @include "lib/call"
--- @include "budget/_work"
local replay = call.open('reservations:ACTIVE', 'reservations:VOIDED') or work.replayOf('VOID')
if replay then return replay end
local record = work.reservation()

return work.book(record, 'VOID', emit.budget.voided, record.remainingMinor, 'voidedMinor', 'available', 'VOIDED')
