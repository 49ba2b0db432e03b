--- @export removeIdempotency
--- @include lib/clock lib/records lib/space lib/unit

--- Removes the idempotency records of at most `maxDays` days, from `first` to the last day that is more than 24 hours
--- ago. Returns whether there may be more.
local function removeIdempotency(first, maxDays)
  local through = math.floor(now / 86400000) - 2
  local last = math.min(through, first + maxDays - 1)
  for number = first, last do
    local day = string.format('%d', number)
    unit.delete(keys.idempotency(day))
  end
  if last >= first then records.put(keys.space(spaceId), 'idempotencyFrom', last + 1) end
  return last < through
end
