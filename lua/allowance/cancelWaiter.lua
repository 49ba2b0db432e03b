--- Removes a WAITING waiter from its queue. If it was the head, the waiters behind it are served in the same step.
--- @request write
--- @args waiterId
--- @reply waiter:waiter
--- @include lib/call lib/clock lib/refuse allowance/_serve allowance/_cancel allowance/_queue allowance/_waiter
--- @include scope/_scope
local record = waiter.view(waiterId)
local cancel = record.state == 'WAITING' and scope.cancelOf(scope.path(record.scopeId))
if cancel then
  record.position = nil
  waiter.unqueue(record, cancel)
end
if record.state == 'CANCELLED' then return call.answer({ waiter = record }) end
if record.state ~= 'WAITING' then refuse('WAITER_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('WAITER_NOT_WAITING', 'EXPIRED') end

local wasHead = record.position == 1
record.position = nil
if not wasHead then queue.rebuild(record.allowanceId, waiterId) end
waiter.finish(record, 'CANCELLED', now, emit.waiter.cancelled)
if wasHead then serveWaiters(record.allowanceId, now, 25) end
return call.answer({ waiter = record }, 'operation')
