--- @include lib/clock
--- @export day today
--- The current day: days since 1970, as text.
local day = {}
local today
--- The same as a number.
local current

--- At the start of an invocation.
function day.start()
  local number = math.floor(now / 86400000)
  if number ~= current then current, today = number, string.format('%d', number) end
end
