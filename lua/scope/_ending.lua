--- @export ending
--- @include lib/records scope/_scope
--- What a cancelled run loses, whoever comes across it: the steps of its cancel, or another call before they get there.
local ending = {}

--- Counts a record that a cancel ends among its totals. Returns the id of the request that asked for the cancel: the cause of
--- the record's events. cancel: of scope.cancelOf; total: the counter in its record.
function ending.count(cancel, total)
  records.add(cancel.hashKey, total, 1)
  return scope.load(cancel.id, 'path', 'cancelRequestId').cancelRequestId or '~'
end
