--- @include lib/records scope/_scope

local ended = { 'endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled' }

--- The scope as reads show it: cancelled if it or any ancestor is; nil if it was never used.
function scope.view(scopeId)
  local record = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'liveWaiters', 'name', 'createdAt', 'paused',
    'endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled')
  if not record then return nil end
  for _, name in ipairs(ended) do
    -- An earlier version did not count ends, so more messages may have been requeued than were counted.
    if record[name] and record[name] < 0 then record[name] = 0 end
  end
  local path = scope.path(scopeId)
  local cancel = scope.cancelOf(path)
  record.parentScopeId = path[#path - 1] or false
  if cancel and not record.cancelledAt then
    -- Later calls of the invocation must not take it for the stored record, which the cancel has not reached.
    record = records.copy(record)
    record.cancelledAt = cancel.cancelledAt
  end
  return record
end
