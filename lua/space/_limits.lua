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
