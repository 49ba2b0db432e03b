--- @export labels
--- @include lib/maps lib/money budget/_budget
--- The amounts spent by label: a hash per budget and window. Its field '' has the number of labels.
local labels = {}
--- Bounds the size of a view. Further labels are added up under `other`, which is not counted.
local maxLabels = 50

local function keyOf(record)
  local startedAt = record.windowSeconds and string.format('%d', record.windowStartedAt) or '0'
  return keys.budgetLabels(record.id, startedAt)
end

function labels.add(record, label, amountMinor)
  local key = keyOf(record)
  if label ~= 'other' and not maps.get(key, label) then
    local known = tonumber(maps.get(key, '') or 0)
    if known < maxLabels then maps.put(key, '', string.format('%d', known + 1)) else label = 'other' end
  end
  maps.put(key, label, money.add(maps.get(key, label) or '0', amountMinor))
end

--- Pairs of label and amount.
function labels.list(record)
  local list = {}
  for label, amountMinor in pairs(maps.all(keyOf(record))) do
    if label ~= '' then list[#list + 1] = { label, amountMinor } end
  end
  return list
end
