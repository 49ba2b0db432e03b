--- @include "lib/refuse"
--- @include "lib/maps"
--- @include "lib/audit"
--- @include "lib/journal"
--- Limits travel as one text of names and values, `maxBacklog 1000 maxLeaseSeconds 600`.
local limits = {}

--- The values by name, and the names in their order.
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

--- Sets those of the `requested` limits that differ from what is `stored`, and puts what is then in force into `values`.
--- Returns whether any did. actor: who is audited, or a function that says it.
function limits.change(values, names, stored, requested, granted, actor)
  local asked, most = limits.read(requested), limits.read(granted)
  local rpm, askedRpm = tonumber(maps.get(keys.org(), 'rpm')), tonumber(asked.requestsPerMinute)
  if rpm and askedRpm and askedRpm > rpm then refuse('ENTITLEMENT_EXCEEDED', 'requestsPerMinute ' .. rpm) end
  if askedRpm and askedRpm > tonumber(most.requestsPerMinute) then
    refuse('VALIDATION_FAILED', 'requestsPerMinute must be a whole number from 1 to ' .. most.requestsPerMinute)
  end
  for name, largest in pairs(most) do
    if (tonumber(asked[name]) or 0) > tonumber(largest) then refuse('ENTITLEMENT_EXCEEDED', name .. ' ' .. largest) end
  end

  local changed = {}
  for i, name in ipairs(names) do
    local before = stored[i] or values[name]
    if asked[name] ~= 'default' then values[name] = asked[name] or before end
    if values[name] ~= before then
      records.put(keys.space(), name, values[name])
      changed[name] = tonumber(values[name])
    end
  end
  if rpm then values.requestsPerMinute = math.min(rpm, values.requestsPerMinute) end
  if not next(changed) then return false end
  emit.limits.updated(spaceId, changed)
  audit('limits.updated', actor == 'cli' and actor or actor(), spaceId, cjson.encode(changed))
  return true
end
