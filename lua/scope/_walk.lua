--- @export walk
--- @include scope/_scope
--- A walk through the scopes of a subtree, children before parents.
local walk = {}

--- The first leaf of a subtree.
function walk.first(scopeId)
  while true do
    local child = redis.call('ZRANGE', keys.gates(scopeId), 0, 0)[1]
    if not child then return scopeId end
    scopeId = string.sub(child, -36)
  end
end

--- The next scope; nil after the top scope, which comes last.
function walk.next(scopeId, topId)
  if scopeId == topId then return nil end
  local path = scope.path(scopeId)
  local parentId = path[#path - 1]
  local place = scope.place(scopeId, scope.load(scopeId, 'path', 'createdAt').createdAt)
  local sibling = redis.call('ZRANGE', keys.gates(parentId), '(' .. place, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
  return sibling and walk.first(string.sub(sibling, -36)) or parentId
end
