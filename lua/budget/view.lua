--- A budget with a page of its reservations: ACTIVE ones first, then closed ones, each newest first; of the states
--- `,A,B,` ('' for all). The cursor is the last id with the part of the list, `active` or `closed`, that it stood in.
--- A set per state: nothing is read that is not answered.
--- @args budgetId states limit part cursor
--- @include "lib/call"
--- @include "budget/_reservation"
call.read()
local record = redis.call('HMGET', keys.budget(budgetId), 'name', 'currency', 'scale', 'limitMinor', 'reserved', 'settled',
  'available', 'createdAt')
if not record[1] then refuse('BUDGET_NOT_FOUND') end
record[9] = budgetId
limit = tonumber(limit)
local rows, last, more = {}, false, false

local function take(name, ...)
  local from, ids = part == name and '(' .. cursor or '+', {}
  for _, state in ipairs({ ... }) do
    if states == '' or string.find(states, ',' .. state .. ',', 1, true) then
      local found = redis.call('ZRANGE', keys.budgetReservations(budgetId, state), from, '-', 'BYLEX', 'REV',
        'LIMIT', 0, limit + 1 - #rows)
      for _, id in ipairs(found) do ids[#ids + 1] = id end
    end
  end
  table.sort(ids, function(a, b) return a > b end)
  for _, id in ipairs(ids) do
    if #rows == limit then
      more = true
      return
    end
    rows[#rows + 1] = reservation.row(reservation.read(id))
    last = name .. ' ' .. id
  end
end

if part ~= 'closed' then take('active', 'ACTIVE') end
if not more then take('closed', 'SETTLED', 'VOIDED') end
return call.answer(record, more and last, rows)
