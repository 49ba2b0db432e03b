--- @include lib/due budget/_reservation
--- The settleBy of a reservation has passed: it becomes overdue. Nothing else happens to it.
due['budget:reservation'] = function(reservationId)
  local record = reservation.load(reservationId)
  if record then reservation.becomeOverdue(record) end
end
