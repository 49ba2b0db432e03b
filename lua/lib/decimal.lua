--- @export decimal
--- @include lib/clock
--- Whole numbers as text. Formatting one takes as long as some ten look-ups, and Redis takes longer still for a number that
--- it is given: small ones are kept, and the calls of an invocation mostly have the same moments.
local digits = {}
for number = 0, 20 do digits[number] = number .. '' end
local maxKeptDigits = 3
--- The last one that was formatted.
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
