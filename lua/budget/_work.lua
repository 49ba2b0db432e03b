--- @export work
--- @include lib/call lib/clock lib/id lib/money lib/records lib/refuse lib/timer lib/unit budget/_ancestors
--- @include budget/_budget budget/_entry budget/_labels budget/_overdue budget/_reservation
--- The parts that settle and void share: one ledger entry per workKey.
local work = {}

--- Replays the answer of the first request with this workKey; nil if there was none. amountMinor: the amount to
--- compare; nil to accept any. asked: kind, budgetId, reservationId, workKey, label and tail of the new entry.
function work.replayOf(asked, amountMinor)
  if timer.nextDue <= now then overdue.catchUp() end
  asked.balances = budget.read(asked.budgetId)
  asked.key = keys.budgetWorkKeys(asked.budgetId, asked.kind)
  local first = entry.find(asked.key, asked.workKey)
  -- Retention removes a reservation before its entries.
  local record = first and reservation.load(first.reservationId)
  if not record then return nil end
  if first.reservationId ~= asked.reservationId then refuse('WORK_KEY_CONFLICT', 'reservationId') end
  if amountMinor and amountMinor ~= first.amountMinor then refuse('WORK_KEY_CONFLICT', 'amountMinor') end
  if record.settleBy then overdue.pass(record) end
  return call.answer({ id = first.id, amountMinor = first.amountMinor, overdrawnMinor = first.overdrawnMinor,
    replay = true, reservation = record, balances = asked.balances }, 'syscall')
end

--- The reservation. Refuses if it is closed or belongs to another budget. If settleBy passed after the last sweep, the
--- overdue event must come before the reservation closes.
function work.reservation(asked)
  local record = reservation.load(asked.reservationId)
  if not record or record.budgetId ~= asked.budgetId then refuse('RESERVATION_NOT_FOUND') end
  if record.settleBy then overdue.pass(record) end
  if record.state ~= 'ACTIVE' then
    refuse('RESERVATION_CLOSED', record.state .. (record.overdue and record.onOverdue == 'SETTLE' and ' overdue' or ''))
  end
  return record
end

--- Moves an amount from the reservation to its `field` and, in the budget and the budgets above it, to `balance`:
--- settledMinor and settled, or voidedMinor and available. The reservation closes as `finalState` when nothing remains.
--- The amount beyond the reservation is an overrun, which each budget books for itself. emitter: emits the event.
--- Returns the answer.
function work.book(asked, record, emitter, amountMinor, field, balance, finalState)
  local reference = entry.reference(asked.kind, asked.workKey)
  local isOverrun = money.exceeds(amountMinor, record.remainingMinor)
  local held, levels, overdrawn = isOverrun and record.remainingMinor or amountMinor, nil, nil
  if not budget.isPlain(asked.balances) or isOverrun or asked.label then
    levels = ancestors.of(asked.balances)
    ancestors.move(levels, 'reserved', balance, held)
  else
    budget.move(asked.balances, 'reserved', balance, held)
  end
  if isOverrun then
    -- A reservation has one overrun at most, as it closes.
    local above = money.subtract(amountMinor, held)
    records.set(record, 'overrunMinor', above)
    overdrawn = {}
    for i, level in ipairs(levels) do overdrawn[i] = budget.overrun(level, above) end
  end
  if asked.label and amountMinor ~= '0' then
    for _, level in ipairs(levels) do labels.add(level, asked.label, amountMinor) end
  end
  records.set(record, 'remainingMinor', money.subtract(record.remainingMinor, held))
  records.set(record, field, money.add(record[field], amountMinor))
  if record.firstEntry then
    unit.push(keys.reservationWorkKeys(record.id), reference)
  else
    records.set(record, 'firstEntry', reference)
  end
  if record.remainingMinor == '0' then reservation.close(record, finalState) end
  local id, overdrawnMinor = newId(asked.tail), overdrawn and overdrawn[1] or '0'
  entry.store(asked.key, asked.workKey, id, record.id, amountMinor, overdrawnMinor)
  emitter(asked.budgetId, { scopeId = record.scopeId, reservationId = record.id, entryId = id, state = record.state,
    amountMinor = amountMinor })
  for i = 1, overdrawn and #levels or 0 do
    if overdrawn[i] ~= '0' then
      local level = levels[i]
      emit.budget.overdrawn(level.id, { scopeId = record.scopeId, reservationId = record.id, entryId = id,
        overdrawnMinor = overdrawn[i], overdrawn = level.overdrawn })
    end
  end
  return call.answer({ id = id, amountMinor = amountMinor, overdrawnMinor = overdrawnMinor, reservation = record,
    balances = asked.balances }, 'operation')
end
