--- Sets a WAITING waiter's time to live, counted from now; it keeps its place in line. ttlSeconds '': the time to live
--- with which it was queued.
--- @request write
--- @args waiterId ttlSeconds
--- @reply waiter:waiter
--- @include lib/call lib/clock lib/records lib/refuse lib/timer allowance/_waiter scope/_scope
local record = waiter.view(waiterId)
if record.state ~= 'WAITING' then refuse('WAITER_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('WAITER_NOT_WAITING', 'EXPIRED') end
if scope.cancelFor(record) then refuse('WAITER_NOT_WAITING', 'CANCELLED') end

-- Before its first renewal, a waiter has no stored ttlSeconds: it is the time from createdAt to expiresAt.
if not record.ttlSeconds then records.set(record, 'ttlSeconds', (record.expiresAt - record.createdAt) / 1000) end
records.set(record, 'expiresAt', now + (tonumber(ttlSeconds) or record.ttlSeconds) * 1000)
timer.arm('allowance:waiter', waiterId, record.expiresAt)
return call.answer({ waiter = record }, 'syscall')
