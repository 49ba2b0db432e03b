--- Releases what is left of a reservation (contract section 4, Reservation).
--- @include "lib/call"
--- @include "budget/_entry"
local replay = call.open('reservations:ACTIVE', 'reservations:VOIDED') or entry.replayOf('VOID')
if replay then return replay end
local record = entry.reservation()

return entry.record(record, 'VOID', 'voided', record.remainingMinor, 'voidedMinor', 'available', 'VOIDED')
