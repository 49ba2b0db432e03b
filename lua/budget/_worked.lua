--- @include lib/answers lib/money
worked['reservation.amountMinor'] = function(values)
  local given = money.add(money.add(values.settledMinor, values.voidedMinor), values.remainingMinor)
  return money.subtract(given, values.overrunMinor == '' and '0' or values.overrunMinor)
end
