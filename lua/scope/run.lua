--- The run view (contract section 4): what belongs to a scope and to those below it, at most `most` of a kind, newest
--- first, and whether there is more of any. lists: what each room shows, as name and rows.
--- @args scopeId most
--- @reply scopes:scope[] lists truncated
--- @include "lib/call"
--- @include "lib/inRun"
--- @include "scope/_subtree"
--- @include "*/_run"
call.read()
most = tonumber(most)
local scopes, truncated = subtree.scopes(scopeId, most)
if not scopes then refuse('SCOPE_NOT_FOUND') end
local lists, ids = {}, {}
for i, record in ipairs(scopes) do ids[i] = record.id end
for name, kind in pairs(inRun) do
  local shown, more
  if kind.total then shown = kind.total(ids) else shown, more = subtree.rows(kind, scopes, most) end
  lists[#lists + 1] = { name, shown }
  truncated = truncated or more
end
return call.answer({ scopes = scopes, lists = lists, truncated = truncated })
