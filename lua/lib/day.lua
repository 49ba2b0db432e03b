--- @include lib/clock
--- @export day today minute minuteText
--- The current day and minute since 1970: the day as text, the minute as a number and as text.
local day = {}
local today, minute, minuteText
local current

function day.start()
  local number = math.floor(now / 60000)
  if number == minute then return end
  minute, minuteText = number, string.format('%d', number)
  number = math.floor(now / 86400000)
  if number ~= current then current, today = number, string.format('%d', number) end
end
