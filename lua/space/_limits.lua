--- @export limits
--- @include lib/audit lib/decimal lib/maps lib/records lib/refuse lib/space
--- Limits are passed as one text of names and values, `maxBacklog 1000 maxRetainedBytes none`. `none`: unlimited, which
--- is stored as no field.
local limits = {}

--- Parses limits: the values by name, and the names in order.
function limits.read(text)
  local values, names = {}, {}
  for name, value in string.gmatch(text, '(%w+) (%w+)') do
    values[name], names[#names + 1] = value, name
  end
  return values, names
end

--- The plan's upper bounds, by limit.
function limits.ofPlan()
  return { requestsPerMinute = tonumber(maps.get(keys.org(), 'rpm')),
    maxRetainedBytes = tonumber(maps.get(keys.org(), 'retainedBytes')) }
end

--- Lowers limits to what the plan grants.
function limits.cap(values)
  for name, max in pairs(limits.ofPlan()) do
    values[name] = decimal(math.min(max, tonumber(values[name]) or max))
  end
end

function limits.text(values, names)
  local words = {}
  for i, name in ipairs(names) do words[i] = name .. ' ' .. values[name] end
  return table.concat(words, ' ')
end

--- Sets the `requested` limits that differ from `stored`, by name, and puts the limits then in force into `values`.
--- Returns whether any changed. actor: for the audit trail, or a function that returns it.
function limits.change(values, names, stored, requested, granted, actor)
  local newValues, maxValues = limits.read(requested), limits.read(granted)
  local newRpm = tonumber(newValues.requestsPerMinute)
  for name, max in pairs(limits.ofPlan()) do
    if (tonumber(newValues[name]) or 0) > max then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. decimal(max)) end
  end
  if newRpm and newRpm > tonumber(maxValues.requestsPerMinute) then
    refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to ' .. maxValues.requestsPerMinute)
  end
  for name, max in pairs(maxValues) do
    if (tonumber(newValues[name]) or 0) > tonumber(max) then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. max) end
  end

  local changed = {}
  for _, name in ipairs(names) do
    local before = tostring(stored[name] or values[name])
    if newValues[name] ~= 'default' then values[name] = newValues[name] or before end
    if values[name] ~= before then
      changed[name] = tonumber(values[name]) or false
      records.put(keys.space(spaceId), name, changed[name])
    end
  end
  limits.cap(values)
  if not next(changed) then return false end
  emit.limits.updated(spaceId, changed)
  for name, value in pairs(changed) do changed[name] = value or cjson.null end
  audit('limits.updated', actor == 'cli' and actor or actor(), spaceId, cjson.encode(changed))
  return true
end
