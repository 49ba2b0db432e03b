--- @include lib/answers
worked['allowance.availableUnits'] = function(values) return string.format('%d', math.max(0, values.unitsLimit - values.usedUnits)) end
