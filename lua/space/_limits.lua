--- @export limits
--- @include lib/audit lib/maps lib/records lib/refuse lib/space
--- Limits are passed as one text of names and values, `maxBacklog 1000 maxLeaseSeconds 600`.
local limits = {}

--- Parses limits: the values by name, and the names in order.
function limits.read(text)
  local values, names = {}, {}
  for name, value in string.gmatch(text, '(%w+) (%w+)') do
    values[name], names[#names + 1] = value, name
  end
  return values, names
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
  local rpm, newRpm = tonumber(maps.get(keys.org(), 'rpm')), tonumber(newValues.requestsPerMinute)
  if rpm and newRpm and newRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
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
      records.put(keys.space(spaceId), name, tonumber(values[name]))
      changed[name] = tonumber(values[name])
    end
  end
  if rpm then values.requestsPerMinute = math.min(rpm, values.requestsPerMinute) end
  if not next(changed) then return false end
  emit.limits.updated(spaceId, changed)
  audit('limits.updated', actor == 'cli' and actor or actor(), spaceId, cjson.encode(changed))
  return true
end
