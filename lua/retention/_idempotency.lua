--- @include "lib/clock"
--- @include "lib/space"

--- Removes what requests were answered on days from `first` on, as long as nothing of the day can be within 24 hours.
--- True when there may be more.
local function removeIdempotency(first, most)
  local through = math.floor(now / 86400000) - 2
  local last = math.min(through, first + most - 1)
  for number = first, last do
    local day = string.format('%d', number)
    redis.call('UNLINK', keys.idempotency(day))
  end
  if last >= first then redis.call('HSET', keys.space(), 'idempotencyFrom', string.format('%d', last + 1)) end
  return last < through
end
