--- Creates a scope before its first use, or finds it. scopeId '': a new id; parentScopeId '': a root scope; name '': no
--- name. The parent may be new as well.
--- @request write
--- @args scopeId parentScopeId name tail
--- @reply known scope:scope
--- @include lib/call lib/clock lib/finished lib/id lib/plan lib/records lib/refuse scope/_scope scope/_subtree
local maxChildren = 10000
if scopeId ~= '' and scopeId == parentScopeId then
  refuse('VALIDATION_FAILED', 'parentScopeId must differ from scopeId')
end
local found = scopeId ~= '' and scope.view(scopeId)
if found then
  if parentScopeId ~= '' and found.parentScopeId ~= parentScopeId then refuse('SCOPE_CONFLICT', 'parentScopeId') end
  if name ~= '' and found.name ~= name then refuse('SCOPE_CONFLICT', 'name') end
  return call.answer({ known = 1, scope = found })
end
local parentPath = parentScopeId ~= '' and scope.path(parentScopeId) or nil
scope.needRunning(parentPath)
plan.needOperation()
if parentPath then
  if #parentPath >= scope.maxDepth then refuse('SCOPE_DEPTH_EXCEEDED', scope.maxDepth) end
  if scope.load(parentScopeId, 'declaredChildren').declaredChildren >= maxChildren then
    refuse('SCOPE_CHILDREN_FULL', 'scopes ' .. maxChildren)
  end
end
scope.check(parentPath)

local id = scopeId ~= '' and scopeId or newId(tail)
if parentScopeId ~= '' then parentPath = parentPath or scope.create(parentScopeId) end
scope.create(id, parentPath, name ~= '' and name or nil)
if parentPath then
  records.put(keys.scope(id), 'isDeclared', true)
  records.add(keys.scope(parentScopeId), 'declaredChildren', 1)
end
-- Until the scope is used, retention treats it like a finished record.
finished.add('scope:scope', id, nowText)
return call.answer({ scope = scope.view(id) }, 'operation')
