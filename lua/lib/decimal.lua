--- @export decimal
--- @include lib/clock
--- Formats whole numbers. Formatting takes as long as some ten look-ups, and Redis needs even longer for a number
--- passed to it. So small numbers are cached, and so is the last one: the calls of an invocation often share a time.
local digits = {}
for number = 0, 20 do digits[number] = number .. '' end
local maxKeptDigits = 3
local last, lastText

local function decimal(number)
  local text = number == now and nowText or digits[number]
  if text then return text end
  if number ~= last then
    last, lastText = number, string.format('%d', number)
    if #lastText <= maxKeptDigits then digits[number] = lastText end
  end
  return lastText
end
