--- @include "lib/clock"
--- @include "lib/unit"

--- Removes what requests were answered on days from `first` on, as long as nothing of the day can be within 24 hours.
--- True when there may be more.
local function removeIdempotency(first, most)
  local through = math.floor(now / 86400000) - 2
  local last = math.min(through, first + most - 1)
  for number = first, last do
    local day = string.format('%d', number)
    unit.delete(keys.idempotency(day))
  end
  if last >= first then records.put(keys.space(), 'idempotencyFrom', last + 1) end
  return last < through
end
