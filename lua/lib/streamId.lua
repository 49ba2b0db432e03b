--- @export streamId
--- Ids of stream entries, `<milliseconds>-<number>`. A Lua number may not hold either part exactly, so digits are
--- compared.
local streamId = {}

local function isLess(a, b)
  return #a < #b or #a == #b and a < b
end

function streamId.isBefore(a, b)
  local ms, number = string.match(a, '^(%d+)-(%d+)$')
  local otherMs, other = string.match(b, '^(%d+)-(%d+)$')
  if ms ~= otherMs then return isLess(ms, otherMs) end
  return isLess(number, other)
end

--- The time of an entry, in milliseconds.
function streamId.at(id)
  return tonumber((string.match(id, '^%d+')))
end

--- The id directly after this one.
function streamId.after(id)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  return ms .. '-' .. string.format('%d', number + 1)
end
