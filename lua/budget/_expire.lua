--- @include "lib/due"
--- @include "budget/_reservation"
--- A settleBy passes: the reservation is overdue from then on, and nothing else happens to it.
due['budget:reservation'] = function(reservationId)
  local record = reservation.load(reservationId)
  if record then reservation.becomeOverdue(record) end
end
