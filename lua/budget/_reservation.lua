--- @include "lib/count"
--- @include "lib/journal"
--- @include "lib/later"
--- @include "lib/money"
--- @include "lib/records"
--- @include "lib/timer"
--- What every transition of a reservation shares (contract section 4).
local reservation = {}

--- The record by field names; nil where there is none. What is not set is 0, or absent.
function reservation.read(reservationId)
  local record = records.load(keys.reservation(reservationId))
  if not record then return nil end
  record.id = reservationId
  record.settledMinor, record.voidedMinor = record.settledMinor or '0', record.voidedMinor or '0'
  return record
end

--- Its fields in the order of the answers, the id last. What is past its settleBy is overdue, swept or not.
function reservation.row(record)
  local settled, voided, settleBy = record.settledMinor, record.voidedMinor, record.settleBy
  local amountMinor = record.remainingMinor
  if settled ~= '0' then amountMinor = money.add(amountMinor, settled) end
  if voided ~= '0' then amountMinor = money.add(amountMinor, voided) end
  local overdue = record.overdue or (record.state == 'ACTIVE' and settleBy and tonumber(settleBy) <= now and '1')
  return { record.scopeId, record.holder, amountMinor, settled, voided, record.remainingMinor, record.state, settleBy or false,
    overdue or false, record.closedAt or false, record.id }
end

--- Says once that an ACTIVE reservation's settleBy has passed.
function reservation.becomeOverdue(record)
  if record.state ~= 'ACTIVE' or record.overdue or not record.settleBy or tonumber(record.settleBy) > now then return end
  record.overdue = '1'
  redis.call('HSET', keys.reservation(record.id), 'overdue', '1')
  journal.append('budget.reservation_overdue', record.budgetId, record.scopeId,
    '"reservationId":"' .. record.id .. '","state":"ACTIVE"')
end

--- Takes an ACTIVE reservation to SETTLED or VOIDED, but for the record itself.
function reservation.close(record, state)
  record.state, record.closedAt = state, nowText
  later.leave(keys.budgetReservations(record.budgetId, 'ACTIVE'), record.id)
  later.enter(keys.budgetReservations(record.budgetId, state), '0', record.id)
  local member = 'budget:reservation:' .. spaceId .. ':' .. record.id
  if record.settleBy then
    timer.disarm(member)
    count.add(count.space, 'timers:ARMED', -1)
  end
  count.add(count.space, 'reservations:ACTIVE', -1)
  count.add(count.space, 'reservations:' .. state, 1)
  later.enter(keys.closed(), nowText, member)
end
