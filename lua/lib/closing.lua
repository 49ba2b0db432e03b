--- @export closing
--- @include lib/invocation
--- What remains to be done once a call, or the whole of an atomic batch, has made its changes: judging what other calls
--- of the batch may still change.
local closing = {}

--- act(at): runs at the end; `at` is the moment of the changes.
function closing.add(act)
  invocation.closing = invocation.closing or {}
  table.insert(invocation.closing, act)
end

--- Runs what was added, and what that adds.
function closing.run(at)
  local acts, next = invocation.closing, 1
  while acts and acts[next] do
    acts[next](at)
    next = next + 1
  end
  invocation.closing = false
end
