--- @export ending
--- @include lib/records scope/_scope
--- Records that a cancel ends, whether a step of the cancel finds them or another call does so earlier.
local ending = {}

--- Counts a record ended by a cancel. Returns the id of the request that asked for the cancel, which is the cause of
--- the record's events. cancel: from scope.cancelOf; total: the counter in its record.
function ending.count(cancel, total)
  records.add(cancel.hashKey, total, 1)
  return scope.load(cancel.id, 'path', 'cancelRequestId').cancelRequestId or '~'
end
