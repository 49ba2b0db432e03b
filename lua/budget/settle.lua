--- Settles a reservation in part or in full; the remainder stays reserved. overrun '1': also more than the remainder.
--- @args amountMinor overrun
--- @reply id amountMinor overdrawnMinor replay reservation:reservation balances:balances
--- @gather
--- @include "lib/call"
--- @include "lib/money"
--- @include "budget/_work"
local replay = call.open('reservations:ACTIVE', 'reservations:SETTLED') or work.replayOf('SETTLE', amountMinor)
if replay then return replay end
local record = work.reservation()
if overrun ~= '1' and money.exceeds(amountMinor, record.remainingMinor) then
  refuse('SETTLEMENT_EXCEEDS_RESERVATION', record.remainingMinor)
end

return work.book(record, 'SETTLE', emit.budget.settled, amountMinor, 'settledMinor', 'settled', 'SETTLED')
