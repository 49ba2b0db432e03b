--- @args budgetId reservationId workKey tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/money"
--- @include "budget/_budget"
--- @include "budget/_entry"
--- @include "budget/_reservation"
--- What settle and void share: each workKey makes one entry.
local work = {}
--- The hash of the entries of this request's kind; the budget's balances.
local key, balances

--- The answer of the first request with this workKey, nil where there was none. amountMinor nil: any.
function work.replayOf(kind, amountMinor)
  balances = budget.read(budgetId)
  key = keys.budgetWorkKeys(budgetId, kind)
  local first = entry.find(key, workKey)
  -- Entries go after their reservation, in steps.
  local record = first and reservation.load(first.reservationId)
  if not record then return nil end
  if first.reservationId ~= reservationId then refuse('WORK_KEY_CONFLICT', 'reservationId') end
  if amountMinor and amountMinor ~= first.amountMinor then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  reservation.becomeOverdue(record)
  return call.uncounted({ id = first.id, amountMinor = first.amountMinor, replay = true, reservation = record,
    balances = balances })
end

--- The reservation; refuses another budget's and a closed one.
function work.reservation()
  local record = reservation.load(reservationId)
  if not record or record.budgetId ~= budgetId then refuse('RESERVATION_NOT_FOUND') end
  if record.state ~= 'ACTIVE' then refuse('RESERVATION_CLOSED', record.state) end
  return record
end

--- Moves the amount out of the reservation: to settledMinor and settled, or to voidedMinor and available. The
--- reservation closes as `closesAs` when nothing is left of it. tell: emits what happened. Answers.
function work.record(record, kind, tell, amountMinor, field, balance, closesAs)
  -- A settleBy that passed after the last sweep is told before the reservation may close.
  reservation.becomeOverdue(record)
  local mark = entry.mark(kind, workKey)
  budget.move(balances, 'reserved', balance, amountMinor)
  records.set(record, 'remainingMinor', money.subtract(record.remainingMinor, amountMinor))
  records.set(record, field, money.add(record[field], amountMinor))
  if record.firstEntry then
    unit.push(keys.reservationWorkKeys(reservationId), mark)
  else
    records.set(record, 'firstEntry', mark)
  end
  if record.remainingMinor == '0' then reservation.close(record, closesAs) end
  local id = newId(tail)
  entry.keep(key, workKey, id, reservationId, amountMinor)
  tell(budgetId, { scopeId = record.scopeId, reservationId = reservationId, entryId = id, state = record.state,
    amountMinor = amountMinor })
  return call.done({ id = id, amountMinor = amountMinor, reservation = record, balances = balances })
end
