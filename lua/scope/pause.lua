--- Pauses a scope and all below it, or resumes it (isPaused '0'). Repeating it changes nothing. A resumed scope stays
--- paused while a scope above it is paused.
--- @request write
--- @args scopeId isPaused
--- @reply scope:scope
--- @include lib/audit lib/call lib/caller lib/clock lib/finished lib/records lib/refuse scope/_pausing scope/_scope
--- @include scope/_subtree
local record = scope.view(scopeId) or refuse('SCOPE_NOT_FOUND')
if record.cancelledAt then refuse('SCOPE_CANCELLED') end
if record.paused == (isPaused == '1') then return call.answer({ scope = record }) end

records.set(record, 'paused', isPaused == '1')
pausing.add(record.paused and 1 or -1)
pausing.changed()
if record.paused then
  emit.scope.paused(scopeId, { scopeId = scopeId })
else
  emit.scope.resumed(scopeId, { scopeId = scopeId })
  pausing.resumed()
  -- Until the scope has other records, retention treats it like a finished record.
  finished.add('scope:scope', scopeId, nowText)
end
audit(record.paused and 'scope.paused' or 'scope.resumed', caller.actor(), scopeId, inSpace())
return call.answer({ scope = record }, 'operation')
