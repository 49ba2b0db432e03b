--- @export alerts
--- @include lib/money lib/records budget/_budget
--- The percentages of a budget's limit at which its use is announced, each once per window. `alerted` lists the
--- percentages already announced, as `,50,80,`.
local alerts = {}

local function isReached(record, percent)
  local used = money.add(record.reserved, record.settled)
  return used ~= '0' and not money.exceeds(money.times(record.limitMinor, percent), used .. '00')
end

--- Emits the alerts of a budget that are reached and were not yet emitted in this window.
local function emitOf(record)
  local emitted = record.alerted or ','
  for percent in string.gmatch(record.alertPercents, '%d+') do
    if not string.find(emitted, ',' .. percent .. ',', 1, true) and isReached(record, tonumber(percent)) then
      emitted = emitted .. percent .. ','
      records.set(record, 'alerted', emitted)
      emit.budget.threshold_reached(record.id, { percent = percent })
    end
  end
end

--- Emits the alerts of every level that has some.
function alerts.emitReached(levels)
  for i = 1, #levels do
    if levels[i].alertPercents then emitOf(levels[i]) end
  end
end

--- After a change of limit or percentages: forgets emitted alerts whose percentage is no longer set and, if isRaised,
--- alerts that are no longer reached, so that they can be emitted again.
function alerts.rearm(record, isRaised)
  if not record.alerted then return end
  local kept = ','
  for percent in string.gmatch(record.alerted, '%d+') do
    local isWanted = string.find(record.alertPercents or '', '%f[%d]' .. percent .. '%f[%D]')
    if isWanted and not (isRaised and not isReached(record, tonumber(percent))) then kept = kept .. percent .. ',' end
  end
  if kept ~= record.alerted then records.set(record, 'alerted', kept ~= ',' and kept) end
end
