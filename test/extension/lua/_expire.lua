--- @include lib/hooks lock/_lock
--- The end of a lock's lease.
due['lock:lease'] = function(lockId)
  local record = lock.read(lockId)
  if not record or record.state ~= 'HELD' then return end
  lock.finish(record, 'LAPSED')
  emit.lock.lapsed(lockId, record)
end
