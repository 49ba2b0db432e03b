--- @export rowsOf
--- @registry waiting
--- The lists of /ops/waits by name; each room's _waits.lua adds its own. Each is a function that takes the maximum number of
--- rows and returns the rows and whether there are more.
local waiting = {}

--- Rows of the first `maxRows` ids, and whether there are more.
local function rowsOf(ids, maxRows, row)
  local list = {}
  for i = 1, math.min(#ids, maxRows) do list[i] = row(ids[i]) end
  return list, #ids > maxRows
end
