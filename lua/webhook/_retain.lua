--- @include lib/hooks retention/_stream
--- Attempts are kept as long as the journal.
function retained.steps.deliveries(through, maxRecords)
  local _, more = trimStream(keys.deliveries(), through, maxRecords)
  return more
end
