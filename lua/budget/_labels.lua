--- @export labels
--- @include lib/maps lib/money budget/_budget
--- What was spent under each label: a hash per budget and window. The field '' has the number of labels in it.
local labels = {}
--- So many labels keep a view small. The rest is one label, `other`, which does not count.
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
