--- Removes a WAITING waiter from its queue. If it was the head, the waiters behind it are served in the same step.
--- @request write
--- @args waiterId
--- @reply waiter:waiter
--- @include lib/call lib/clock lib/queue lib/refuse allowance/_cancel allowance/_serve allowance/_waiter scope/_scope
local record = waiter.whole(waiterId)
local cancel = record.state == 'WAITING' and scope.cancelFor(record)
if cancel then waiter.unqueue(record, cancel) end
if record.state == 'CANCELLED' then return call.answer({ waiter = record }) end
if record.state ~= 'WAITING' then refuse('WAITER_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('WAITER_NOT_WAITING', 'EXPIRED') end

local wasHead = queue.isLeavingHead('allowance:waiter', record.allowanceId, waiterId)
waiter.finish(record, 'CANCELLED', now, emit.waiter.cancelled)
if wasHead then serveWaiters(record.allowanceId, now, 25) end
return call.answer({ waiter = record }, 'operation')
