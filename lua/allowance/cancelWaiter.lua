--- Takes a WAITING waiter out of its queue; when it was the head, those behind it move up in the same step.
--- @args waiterId
--- @include "lib/call"
--- @include "allowance/_serve"
local replay = call.open()
if replay then return replay end
local record = waiter.read(waiterId)
if not record then refuse('WAITER_NOT_FOUND') end
if record.state == 'CANCELLED' then return call.unchanged(unpack(waiter.view(waiterId))) end
if record.state ~= 'WAITING' then refuse('WAITER_NOT_WAITING', record.state) end
if record.expiresAt <= now then refuse('WAITER_NOT_WAITING', 'EXPIRED') end

local wasHead = redis.call('ZRANK', keys.liveWaiters(record.allowanceId), waiterId) == 0
waiter.finish({ record }, 'CANCELLED', now, 'cancelled')
queue.rebuild(record.allowanceId)
if wasHead then serve(record.allowanceId, now, 25) end
return call.done(unpack(waiter.view(waiterId)))
