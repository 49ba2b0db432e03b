--- @include lib/hooks budget/_overdue budget/_reservation
--- The settleBy of a reservation has passed.
due['budget:reservation'] = function(reservationId)
  local record = reservation.load(reservationId)
  return record and overdue.pass(record)
end
