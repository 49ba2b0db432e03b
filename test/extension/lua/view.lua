--- A lock as it stands.
--- @args lockId
--- @reply lock:lock
--- @request read
--- @include lib/call lib/refuse lock/_lock
local record = lock.read(lockId)
if not record then refuse('LOCK_NOT_FOUND') end
return call.answer({ lock = record })
