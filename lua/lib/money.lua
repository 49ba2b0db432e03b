--- @export money
--- Amounts of money: strings of at most 18 digits without leading zeros. A double is exact only up to 2^53, so an
--- amount is never a single number: amounts are compared as text and computed in two halves, the lower one of nine
--- digits. A sum of amounts may have up to 24 digits: its upper half is still exact.
local money = {}

function money.exceeds(a, b)
  return #a > #b or (#a == #b and a > b)
end

function money.halves(amount)
  if #amount < 10 then return 0, tonumber(amount) end
  return tonumber(string.sub(amount, 1, -10)), tonumber(string.sub(amount, -9))
end

--- Joins two halves into an amount, with carry or borrow where the lower half is out of range. Returns the amount, then
--- its halves.
function money.join(high, low)
  if low < 0 then high, low = high - 1, low + 1000000000 end
  if low >= 1000000000 then high, low = high + 1, low - 1000000000 end
  return high == 0 and string.format('%d', low) or string.format('%d%09d', high, low), high, low
end

--- a + b, where the sum has at most 24 digits.
function money.add(a, b)
  if a == '0' then return b end
  if b == '0' then return a end
  local highA, lowA = money.halves(a)
  local highB, lowB = money.halves(b)
  return (money.join(highA + highB, lowA + lowB))
end

--- The smaller one of two amounts.
function money.least(a, b)
  return money.exceeds(a, b) and b or a
end

--- An amount times a whole number of at most eight million.
function money.times(amount, factor)
  local high, low = money.halves(amount)
  low = low * factor
  local carry = math.floor(low / 1000000000)
  return (money.join(high * factor + carry, low - carry * 1000000000))
end

--- a - b, where b is at most a.
function money.subtract(a, b)
  if a == b then return '0' end
  local highA, lowA = money.halves(a)
  local highB, lowB = money.halves(b)
  return (money.join(highA - highB, lowA - lowB))
end
