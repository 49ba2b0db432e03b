--- @args budgetId reservationId workKey tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/money"
--- @include "budget/_reservation"
--- What settle and void share: an entry per workKey, unique per budget and kind, kept as long as its reservation.
local entry = {}

--- The answer of the first request with this workKey, nil where there was none. amountMinor nil: any.
function entry.replayOf(kind, amountMinor)
  if redis.call('EXISTS', keys.budget(budgetId)) == 0 then refuse('BUDGET_NOT_FOUND') end
  local known = redis.call('HGET', keys.budgetWorkKeys(budgetId, kind), workKey)
  if not known then return nil end
  local id, reserved, amount, createdAt = string.match(known, '^(%S+) (%S+) (%S+) (%S+)$')
  -- Entries go after their reservation, in steps.
  if redis.call('EXISTS', keys.reservation(reserved)) == 0 then return nil end
  if reserved ~= reservationId then refuse('WORK_KEY_CONFLICT', 'reservationId') end
  if amountMinor and amountMinor ~= amount then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  return call.uncounted(id, createdAt, amount, 1, reservation.row(reservationId), reservation.balances(budgetId))
end

--- What is left of the reservation; refuses another budget's and a closed one.
function entry.remaining()
  local reservedIn, state, remaining = unpack(redis.call('HMGET', keys.reservation(reservationId), 'budgetId', 'state',
    'remainingMinor'))
  if reservedIn ~= budgetId then refuse('RESERVATION_NOT_FOUND') end
  if state ~= 'ACTIVE' then refuse('RESERVATION_CLOSED', state) end
  return remaining
end

--- Moves the amount out of the reservation: to settledMinor and settled, or to voidedMinor and available. The
--- reservation closes as `closesAs` when nothing is left of it. Answers.
function entry.record(kind, what, amountMinor, field, balance, closesAs)
  -- A settleBy that passed after the last sweep is told before the reservation may close.
  reservation.becomeOverdue(reservationId)
  money.move(keys.reservation(reservationId), 'remainingMinor', field, amountMinor)
  money.move(keys.budget(budgetId), 'reserved', balance, amountMinor)
  if redis.call('HGET', keys.reservation(reservationId), 'remainingMinor') == '0' then
    reservation.close(budgetId, reservationId, closesAs)
  end
  local id = newId(tail)
  redis.call('HSET', keys.budgetWorkKeys(budgetId, kind), workKey,
    table.concat({ id, reservationId, amountMinor, nowText }, ' '))
  redis.call('RPUSH', keys.reservationWorkKeys(reservationId), kind .. ' ' .. workKey)
  local row = reservation.row(reservationId)
  journal.append('budget.' .. what, budgetId, row[1], '"reservationId":"' .. reservationId .. '","entryId":"' .. id
    .. '","state":"' .. row[7] .. '","amountMinor":"' .. amountMinor .. '"')
  return call.done(id, now, amountMinor, 0, row, reservation.balances(budgetId))
end
