--- @include scope/_scope

--- The scope as reads show it: cancelled if it or any ancestor is; nil if it was never used.
function scope.view(scopeId)
  local record = scope.load(scopeId, 'path', 'live', 'cancelledAt', 'liveWaiters', 'name', 'createdAt', 'paused')
  if not record then return nil end
  local path = scope.path(scopeId)
  local cancel = scope.cancelOf(path)
  record.parentScopeId = path[#path - 1] or false
  record.cancelledAt = cancel and cancel.cancelledAt or false
  return record
end
