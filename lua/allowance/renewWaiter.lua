--- Sets a WAITING waiter's time to live, counted from now; it keeps its place in line. ttlSeconds '': the one it was queued
--- with.
--- @request write
--- @args waiterId ttlSeconds
--- @reply waiter:waiter
--- @include lib/call lib/clock lib/records lib/refuse lib/timer allowance/_waiter
local record = waiter.view(waiterId)
if record.state ~= 'WAITING' then refuse('WAITER_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('WAITER_NOT_WAITING', 'EXPIRED') end
if waiter.cancelOf(record) then refuse('WAITER_NOT_WAITING', 'CANCELLED') end

-- Until its first renewal, the time to live follows from the waiter's end; now it is stored.
if not record.ttlSeconds then records.set(record, 'ttlSeconds', (record.expiresAt - record.createdAt) / 1000) end
records.set(record, 'expiresAt', now + (tonumber(ttlSeconds) or record.ttlSeconds) * 1000)
timer.arm('allowance:waiter', waiterId, record.expiresAt)
return call.answer({ waiter = record }, 'syscall')
