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

local messages, groups, barriers, reservations, waiters, consumptions, units = {}, {}, {}, {}, {}, 0, 0
for _, row in ipairs(scopes) do
  local id = row[7]
  subtree.take(keys.scopeMessages(id), messages, most + 1)
  subtree.take(keys.scopeBarriers(id), barriers, most + 1)
  subtree.take(keys.scopeReservations(id), reservations, most + 1)
  subtree.take(keys.scopeWaiters(id), waiters, most + 1)
  if row[6] then groups[#groups + 1] = row[6] end
  consumptions, units = consumptions + (row[4] or 0), units + (row[5] or 0)
end

local function rows(ids, read)
  table.sort(ids, function(a, b) return a > b end)
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

return call.answer(scopes, rows(messages, rowOf.message), rows(groups, rowOf.group), rows(barriers, rowOf.barrier),
  rows(reservations, rowOf.reservation), rows(waiters, rowOf.waiter), { consumptions, units }, truncated and 1 or 0)
