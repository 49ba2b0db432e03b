--- @include lib/lease
--- Claims, in keys.claims() by the end of their lease.
leases['mailbox:lease'] = 'nextLease'
