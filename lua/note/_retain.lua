--- @include lib/count lib/hooks lib/space lib/unit lib/usage note/_note space/_space
--- Removes the notes of a scope.
function withScope.notes(scopeId)
  local counts = note.countsOf(scopeId)
  if counts.notes == 0 then return end
  usage.enterToday(space.load(spaceId, 'usageDay'))
  count.space('retainedBytes', -counts.noteBytes)
  unit.delete(keys.notes(scopeId), keys.noteTexts(scopeId))
end
