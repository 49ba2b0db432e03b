--- Removes a WAITING hold from its queue. Repeating it changes nothing. If it was the head, the holds behind it are
--- served in the same step.
--- @request write
--- @args holdId
--- @reply hold:hold
--- @include lib/call lib/clock lib/queue lib/refuse pool/_cancel pool/_hold pool/_queue pool/_serve scope/_scope
local record = hold.whole(holdId)
local cancel = record.state == 'WAITING' and scope.cancelFor(record)
if cancel then hold.unqueue(record, cancel) end
if record.state == 'CANCELLED' then return call.answer({ hold = hold.shown(record) }) end
if record.state ~= 'WAITING' then refuse('HOLD_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('HOLD_NOT_WAITING', 'EXPIRED') end

local wasHead = queue.isLeavingHead('pool:hold', record.poolId, holdId)
hold.finish(record, 'CANCELLED', now, emit.hold.cancelled)
if wasHead then serveHolds(record.poolId, now, 100) end
return call.answer({ hold = hold.shown(record) }, 'operation')
