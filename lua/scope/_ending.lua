--- @include "lib/space"
--- @include "scope/_scope"
--- What a cancelled run loses, whoever comes across it: the steps of its cancel, or another call before they get there.
local ending = {}

--- Ends one record by `act`: its events carry the request id of the cancel, whose totals count it.
--- cancel: of scope.cancelOf; total: the counter in its record.
function ending.count(cancel, total, act, ...)
  local asked = requestId
  requestId = scope.load(cancel.id, 'path', 'cancelRequestId').cancelRequestId or ''
  act(...)
  requestId = asked
  records.add(cancel.key, total, 1)
end
