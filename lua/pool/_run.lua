--- @include lib/inRun pool/_hold
inRun.holds = {}

function inRun.holds.index(scopeId)
  return keys.scopeHolds(scopeId)
end

function inRun.holds.row(id)
  return rows.hold(hold.shown(hold.view(id)))
end
