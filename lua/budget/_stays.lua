--- @include lib/stays
stays.activeReservations = 'activeReservations'
