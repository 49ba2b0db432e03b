--- The run view (contract section 4): what belongs to a scope and to those below it, at most `most` of a kind, newest
--- first, and whether there is more of any. Groups come with their members, together no more than 1,000.
--- @args scopeId most
--- @include "lib/call"
--- @include "scope/_subtree"
--- @include "scope/_rows"
call.read()
most = tonumber(most)
local scopes, truncated = subtree.scopes(scopeId, most)
if not scopes then refuse('SCOPE_NOT_FOUND') end

local groups, consumptions, units = {}, 0, 0
for _, row in ipairs(scopes) do
  if row[6] then groups[#groups + 1] = row[6] end
  consumptions, units = consumptions + (row[4] or 0), units + (row[5] or 0)
end
table.sort(groups, function(a, b) return a > b end)

local function rows(ids, read)
  local found, members = {}, 0
  for i, id in ipairs(ids) do
    local row, size = read(id)
    members = members + (size or 0)
    if i > most or members > 1000 then
      truncated = true
      break
    end
    found[i] = row
  end
  return found
end

local function newest(keyOf, read)
  return rows(subtree.newest(scopes, keyOf, most + 1), read)
end

return call.answer(scopes, newest(function(id) return keys.scopeMessages(id) end, rowOf.message), rows(groups, rowOf.group),
  newest(function(id) return keys.scopeBarriers(id) end, rowOf.barrier),
  newest(function(id) return keys.scopeReservations(id) end, rowOf.reservation),
  newest(function(id) return keys.scopeWaiters(id) end, rowOf.waiter), { consumptions, units }, truncated and 1 or 0)
