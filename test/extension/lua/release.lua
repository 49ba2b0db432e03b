--- Releases a lock; again changes nothing.
--- @args lockId
--- @reply lock:lock
--- @request write
--- @include lib/call lib/refuse lock/_lock
local record = lock.read(lockId)
if not record then refuse('LOCK_NOT_FOUND') end
if record.state == 'RELEASED' then return call.answer({ lock = record }) end
if record.state == 'LAPSED' or record.isOver then refuse('LOCK_LAPSED') end

lock.finish(record, 'RELEASED')
emit.lock.released(lockId, record)
return call.answer({ lock = record }, 'operation')
