--- @include lib/clock lib/hooks lib/timer scope/_cancelling scope/_scope

--- Continues a cancel. Returns how many records changed; if there is more to do, returns `limit`, so that a sweep makes
--- only one step.
due['scope:cancel'] = function(scopeId, _, limit)
  if not scope.path(scopeId) then return end
  local changed, isDone = cancelling.step(scopeId, limit)
  if isDone then return math.max(1, changed) end
  timer.armInBackground('scope:cancel', scopeId, now)
  return limit
end
