--- @args budgetId reservationId workKey tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "lib/money"
--- @include "budget/_budget"
--- @include "budget/_entry"
--- @include "budget/_reservation"
--- What settle and void share: one ledger entry per workKey.
local work = {}
--- The hash of entries of this request's kind; the budget's balances.
local key, balances

--- The replayed answer of the first request with this workKey; nil if there was none. amountMinor nil: any amount.
function work.replayOf(kind, amountMinor)
  balances = budget.read(budgetId)
  key = keys.budgetWorkKeys(budgetId, kind)
  local first = entry.find(key, workKey)
  -- Retention removes a reservation before its entries.
  local record = first and reservation.load(first.reservationId)
  if not record then return nil end
  if first.reservationId ~= reservationId then refuse('WORK_KEY_CONFLICT', 'reservationId') end
  if amountMinor and amountMinor ~= first.amountMinor then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  reservation.becomeOverdue(record)
  return call.uncounted({ id = first.id, amountMinor = first.amountMinor, overdrawnMinor = first.overdrawnMinor,
    replay = true, reservation = record, balances = balances })
end

--- The reservation; refuses one of another budget and a closed one.
function work.reservation()
  local record = reservation.load(reservationId)
  if not record or record.budgetId ~= budgetId then refuse('RESERVATION_NOT_FOUND') end
  if record.state ~= 'ACTIVE' then refuse('RESERVATION_CLOSED', record.state) end
  return record
end

--- Moves an amount out of the reservation, into its `field` and the budget's `balance`: settledMinor and settled, or
--- voidedMinor and available. With nothing left it closes as `finalState`. emitter: emits the event. What the amount has
--- above the reservation is an overrun: the budget books it. Returns the answer.
function work.book(record, kind, emitter, amountMinor, field, balance, finalState)
  -- If settleBy passed after the last sweep, the overdue event comes before the reservation may close.
  reservation.becomeOverdue(record)
  local reference = entry.reference(kind, workKey)
  local isOverrun = money.exceeds(amountMinor, record.remainingMinor)
  local held, overdrawnMinor = isOverrun and record.remainingMinor or amountMinor, '0'
  budget.move(balances, 'reserved', balance, held)
  if isOverrun then
    -- It happens once: the reservation closes.
    local above = money.subtract(amountMinor, held)
    records.set(record, 'overrunMinor', above)
    overdrawnMinor = budget.overrun(balances, above)
  end
  records.set(record, 'remainingMinor', money.subtract(record.remainingMinor, held))
  records.set(record, field, money.add(record[field], amountMinor))
  if record.firstEntry then
    unit.push(keys.reservationWorkKeys(reservationId), reference)
  else
    records.set(record, 'firstEntry', reference)
  end
  if record.remainingMinor == '0' then reservation.close(record, finalState) end
  local id = newId(tail)
  entry.store(key, workKey, id, reservationId, amountMinor, overdrawnMinor)
  emitter(budgetId, { scopeId = record.scopeId, reservationId = reservationId, entryId = id, state = record.state,
    amountMinor = amountMinor })
  if overdrawnMinor ~= '0' then
    emit.budget.overdrawn(budgetId, { scopeId = record.scopeId, reservationId = reservationId, entryId = id,
      overdrawnMinor = overdrawnMinor, overdrawn = balances.overdrawn })
  end
  return call.done({ id = id, amountMinor = amountMinor, overdrawnMinor = overdrawnMinor, reservation = record,
    balances = balances })
end
