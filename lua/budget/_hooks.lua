--- @include lib/hooks budget/_reservation
--- What the room adds to the work of others: see lib/hooks.

inRun.reservations = {}

function inRun.reservations.index(scopeId)
  return keys.scopeReservations(scopeId)
end

function inRun.reservations.row(id)
  return rows.reservation(reservation.view(reservation.load(id)))
end

keptByCancel.activeReservations = 'activeReservations'
