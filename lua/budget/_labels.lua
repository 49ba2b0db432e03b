--- @export labels
--- @include lib/maps lib/money
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

--- Pairs of label and amount. What a window that is not stored yet has paid of the overdraft is not in the hash.
function labels.list(record)
  local list = {}
  if record.beforeRoll and record.settled ~= '0' then list[1] = { 'overdrawn', record.settled } end
  for label, amountMinor in pairs(maps.all(keyOf(record))) do
    if label ~= '' then list[#list + 1] = { label, amountMinor } end
  end
  return list
end
