--- @include lib/due budget/_reservation
--- A reservation's settleBy: it is overdue from then on, and nothing else happens to it.
due['budget:reservation'] = function(reservationId)
  local record = reservation.load(reservationId)
  if record then reservation.becomeOverdue(record) end
end
