--- @args budgetId reservationId workKey tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/later"
--- @include "lib/money"
--- @include "budget/_budget"
--- @include "budget/_reservation"
--- What settle and void share: an entry per workKey, unique per budget and kind, kept as long as its reservation.
local entry = {}
--- The hash of the entries of this request's kind; the budget's balances.
local key, balances

--- The answer of the first request with this workKey, nil where there was none. amountMinor nil: any.
function entry.replayOf(kind, amountMinor)
  balances = budget.read(budgetId)
  key = keys.budgetWorkKeys(budgetId, kind)
  local known = later.get(key, workKey)
  if not known then return nil end
  local id, reserved, amount = string.match(known, '^(%S+) (%S+) (%S+)')
  -- Entries go after their reservation, in steps.
  local record = reservation.read(reserved)
  if not record then return nil end
  if reserved ~= reservationId then refuse('WORK_KEY_CONFLICT', 'reservationId') end
  if amountMinor and amountMinor ~= amount then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  return call.uncounted(id, amount, 1, reservation.row(record), budget.balances(balances))
end

--- The reservation; refuses another budget's and a closed one.
function entry.reservation()
  local record = reservation.read(reservationId)
  if not record or record.budgetId ~= budgetId then refuse('RESERVATION_NOT_FOUND') end
  if record.state ~= 'ACTIVE' then refuse('RESERVATION_CLOSED', record.state) end
  return record
end

--- Moves the amount out of the reservation: to settledMinor and settled, or to voidedMinor and available. The
--- reservation closes as `closesAs` when nothing is left of it. Answers.
function entry.record(record, kind, what, amountMinor, field, balance, closesAs)
  -- A settleBy that passed after the last sweep is told before the reservation may close.
  reservation.becomeOverdue(record)
  local ofWorkKey = kind .. ' ' .. workKey
  budget.move(balances, 'reserved', balance, amountMinor)
  record.remainingMinor, record[field] = money.subtract(record.remainingMinor, amountMinor), money.add(record[field], amountMinor)
  local changes = { keys.reservation(reservationId), 'remainingMinor', record.remainingMinor, field, record[field] }
  if record.firstEntry then
    redis.call('RPUSH', keys.reservationWorkKeys(reservationId), ofWorkKey)
  else
    changes[6], changes[7] = 'firstEntry', ofWorkKey
  end
  if record.remainingMinor == '0' then
    reservation.close(record, closesAs)
    local n = #changes
    changes[n + 1], changes[n + 2], changes[n + 3], changes[n + 4] = 'state', closesAs, 'closedAt', nowText
  end
  redis.call('HSET', unpack(changes))
  local id = newId(tail)
  later.set(key, workKey, id .. ' ' .. reservationId .. ' ' .. amountMinor)
  journal.append('budget.' .. what, budgetId, record.scopeId, '"reservationId":"' .. reservationId .. '","entryId":"' .. id
    .. '","state":"' .. record.state .. '","amountMinor":"' .. amountMinor .. '"')
  return call.done(id, amountMinor, 0, reservation.row(record), budget.balances(balances))
end
