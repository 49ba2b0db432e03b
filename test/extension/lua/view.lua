--- A lock as it stands.
--- @args lockId
--- @reply lock:lock
--- @include "lib/call"
--- @include "lock/_lock"
call.read()
local record = lock.read(lockId)
if not record then refuse('LOCK_NOT_FOUND') end
return call.answer({ lock = record })
