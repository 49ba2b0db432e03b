--- Settles a reservation in part or in full; the remainder stays reserved. overrun '1': accepts more than the
--- remainder. label: what the amount was spent on, or ''.
--- @request write
--- @space reservations:ACTIVE reservations:SETTLED
--- @args budgetId reservationId amountMinor overrun workKey label tail
--- @reply id amountMinor overdrawnMinor replay reservation:reservation balances:balances
--- @gather
--- @include lib/money lib/refuse budget/_work
local asked = { kind = 'SETTLE', budgetId = budgetId, reservationId = reservationId, workKey = workKey,
  label = label ~= '' and label, tail = tail }
local replay = work.replayOf(asked, amountMinor)
if replay then return replay end
local record = work.reservation(asked)
if overrun ~= '1' and money.exceeds(amountMinor, record.remainingMinor) then
  refuse('SETTLEMENT_EXCEEDS_RESERVATION', record.remainingMinor)
end

return work.book(asked, record, emit.budget.settled, amountMinor, 'settledMinor', 'settled', 'SETTLED')
