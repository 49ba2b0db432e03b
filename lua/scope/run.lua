--- The run view: records of a scope and its descendants, newest first, at most `maxRows` of each kind, and whether any
--- kind has more; at most `maxScopes` descendants. lists: name and rows of each room's list.
--- @request read
--- @args scopeId maxScopes maxRows
--- @reply scopes:scope[] lists truncated
--- @include lib/call lib/hooks lib/refuse scope/_subtree
maxRows = tonumber(maxRows)
local scopes, truncated = subtree.scopes(scopeId, tonumber(maxScopes))
if not scopes then refuse('SCOPE_NOT_FOUND') end
local lists, ids = {}, {}
for i, record in ipairs(scopes) do ids[i] = record.id end
for name, kind in pairs(inRun) do
  local shown, more
  if kind.total then shown = kind.total(ids) else shown, more = subtree.rows(kind, scopes, maxRows) end
  lists[#lists + 1] = { name, shown }
  truncated = truncated or more
end
return call.answer({ scopes = scopes, lists = lists, truncated = truncated })
