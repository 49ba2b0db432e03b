--- @include lib/answers
worked['pool.availableUnits'] = function(values) return string.format('%d', math.max(0, values.units - values.heldUnits)) end
