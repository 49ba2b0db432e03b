--- @include lib/inRun budget/_reservation
inRun.reservations = {}

function inRun.reservations.index(scopeId)
  return keys.scopeReservations(scopeId)
end

function inRun.reservations.row(id)
  return rows.reservation(reservation.view(reservation.load(id)))
end
