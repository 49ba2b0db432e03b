--- Releases a lock; again changes nothing.
--- @args lockId
--- @reply lock:lock
--- @include "lib/call"
--- @include "lock/_lock"
local replay = call.open()
if replay then return replay end
local record = lock.read(lockId)
if not record then refuse('LOCK_NOT_FOUND') end
if record.state == 'RELEASED' then return call.unchanged({ lock = record }) end
if record.state == 'LAPSED' or record.isOver then refuse('LOCK_LAPSED') end

lock.finish(record, 'RELEASED')
emit.lock.released(lockId, record)
return call.done({ lock = record })
