--- A budget with a page of its reservations in the states `,A,B,` ('' for all): ACTIVE ones first, then closed ones,
--- each newest first. part, cursor: the part of the list to continue, `active` or `closed`, and the last id seen in it.
--- Each state has its own set, so every record read is part of the page.
--- @request read
--- @args budgetId states limit part cursor
--- @reply budget:budget spentByLabel nextCursor reservations:reservation[]
--- @include lib/call lib/clock lib/invocation lib/page lib/timer budget/_budget budget/_labels budget/_overdue
--- @include budget/_reservation
-- In an atomic batch reads are conditions of changes.
if invocation.isAtomic and timer.nextDue <= now then overdue.catchUp() end
local record = budget.view(budgetId)
limit = tonumber(limit)
local found, last, more = {}, false, false

local function take(name, ...)
  local behind, ids = part == name and cursor or '', {}
  for _, state in ipairs({ ... }) do
    if among(state, states) then
      local some = idsBefore(keys.budgetReservations(budgetId, state), behind, limit + 1 - #found)
      for _, id in ipairs(some) do ids[#ids + 1] = id end
    end
  end
  table.sort(ids, function(a, b) return a > b end)
  for _, id in ipairs(ids) do
    if #found == limit then
      more = true
      return
    end
    found[#found + 1] = reservation.view(reservation.load(id))
    last = name .. ' ' .. id
  end
end

if part ~= 'closed' then take('active', 'ACTIVE') end
if not more then take('closed', 'SETTLED', 'VOIDED') end
return call.answer({ budget = record, spentByLabel = labels.list(record), nextCursor = more and last,
  reservations = found })
