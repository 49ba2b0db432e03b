--- Amounts of money: digit strings of at most 18 digits, without leading zeros. A double is exact only to 2^53, so an
--- amount is never a number here: compared as text, changed by HINCRBY (64-bit integers), read back by HMGET.
local money = {}

--- Whether amount a is more than amount b.
function money.exceeds(a, b)
  return #a > #b or (#a == #b and a > b)
end

--- Moves an amount between two fields of a record, so their sum stays what it was. HINCRBY refuses "-0".
function money.move(key, from, to, amount)
  if amount == '0' then return end
  redis.call('HINCRBY', key, from, '-' .. amount)
  redis.call('HINCRBY', key, to, amount)
end
