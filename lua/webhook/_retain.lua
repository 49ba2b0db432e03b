--- @include "lib/retained"
--- @include "retention/_stream"
--- Rows of attempts go with the journal.
function retained.steps.deliveries(through, most)
  local _, more = trimStream(keys.deliveries(), through, most)
  return more
end
