--- Amounts of money: digit strings of at most 18 digits, without leading zeros. A double is exact only to 2^53, so an
--- amount is never a number here: compared as text, added and subtracted in two halves of nine digits.
local money = {}

--- Whether amount a is more than amount b.
function money.exceeds(a, b)
  return #a > #b or (#a == #b and a > b)
end

local function join(high, low)
  return high == 0 and string.format('%d', low) or string.format('%d%09d', high, low)
end

local function halves(amount)
  if #amount < 10 then return 0, tonumber(amount) end
  return tonumber(string.sub(amount, 1, -10)), tonumber(string.sub(amount, -9))
end

--- a + b; the sum has no more than 18 digits either.
function money.add(a, b)
  local highA, lowA = halves(a)
  local highB, lowB = halves(b)
  local high, low = highA + highB, lowA + lowB
  if low < 1000000000 then return join(high, low) end
  return join(high + 1, low - 1000000000)
end

--- a - b; b does not exceed a.
function money.subtract(a, b)
  local highA, lowA = halves(a)
  local highB, lowB = halves(b)
  local high, low = highA - highB, lowA - lowB
  if low >= 0 then return join(high, low) end
  return join(high - 1, low + 1000000000)
end
