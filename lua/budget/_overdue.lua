--- @export overdue
--- @include lib/again lib/clock lib/id lib/money lib/records lib/sorted lib/space lib/timer budget/_ancestors
--- @include budget/_budget budget/_labels budget/_reservation
--- What happens to a reservation at its settleBy. Its own `onOverdue` decides: KEEP (or absent) leaves it reserved,
--- SETTLE books the rest as spent.
local overdue = {}
--- Bound what one call catches up with: the timers that it looks at, and the reservations that it settles.
local maxLooks, maxSettled = 1000, 50

--- Settles what is left of a reservation along its line, in the windows in which its settleBy lies. The entry has no
--- workKey, so it is not stored. Returns the number of budgets.
local function settleRest(record)
  local at, amountMinor = record.settleBy, record.remainingMinor
  local levels = ancestors.of(budget.read(record.budgetId, at), at)
  ancestors.move(levels, 'reserved', 'settled', amountMinor)
  for _, level in ipairs(levels) do labels.add(level, 'overdue', amountMinor) end
  records.set(record, 'settledMinor', money.add(record.settledMinor, amountMinor))
  records.set(record, 'remainingMinor', '0')
  reservation.close(record, 'SETTLED', at)
  -- No caller gives random digits here: those of the reservation's id serve again, at another time.
  emit.budget.settled(record.budgetId, { scopeId = record.scopeId, reservationId = record.id,
    entryId = newId(string.sub(record.id, 16)), state = record.state, amountMinor = amountMinor })
  return #levels
end

--- Does to a reservation what was due at its settleBy, if that has passed. Returns the number of changes.
function overdue.pass(record)
  if not reservation.isLate(record) then return 1 end
  reservation.markOverdue(record)
  return record.onOverdue == 'SETTLE' and 1 + settleRest(record) or 1
end

--- Settles the reservations of the space that became overdue after the last sweep, so that a call sees each budget as
--- if the sweep had just been. Needed only if `timer.nextDue` has passed.
function overdue.catchUp()
  local key, mine, settled = keys.timers(), timer.named('budget:reservation', ''), 0
  local due = sorted.byScore(key, '-inf', nowText, maxLooks)
  for i = 1, #due, 2 do
    if string.sub(due[i], 1, #mine) == mine then
      local record = reservation.load(string.sub(due[i], #mine + 1))
      if record and record.onOverdue == 'SETTLE' then
        if settled == maxSettled then again('DUE') end
        sorted.remove(key, due[i])
        overdue.pass(record)
        settled = settled + 1
      end
    end
  end
  if #due == 2 * maxLooks then again('DUE') end
end
