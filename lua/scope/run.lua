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
  subtree.add(messages, merge.byAge(keys.scopeMessages(id)))
  subtree.add(barriers, merge.byAge(keys.scopeBarriers(id)))
  subtree.add(reservations, merge.byAge(keys.scopeReservations(id)))
  subtree.add(waiters, merge.byAge(keys.scopeWaiters(id)))
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

local function newest(cursors, read)
  return rows(subtree.newest(cursors, most + 1), read)
end

return call.answer(scopes, newest(messages, rowOf.message), rows(groups, rowOf.group), newest(barriers, rowOf.barrier),
  newest(reservations, rowOf.reservation), newest(waiters, rowOf.waiter), { consumptions, units }, truncated and 1 or 0)
