--- @export soon
--- @include lib/clock lib/invocation lib/timer
--- When the queue of a pool is served by a timer.
local soon = {}
--- How long a hold whose units are free waits for another look at the plan: nothing tells it when an agent elsewhere in the
--- organization has ended.
local retryMs = 500

--- At the time `at`, now for instance, before the next call that changes something. Where a call that follows in the same
--- invocation would be sent back for that, for ever, workers do it at once.
function soon.serve(poolId, at)
  if invocation.isWhole then
    timer.armInBackground('pool:grant', poolId, at)
  else
    timer.arm('pool:grant', poolId, at)
  end
end

--- When the plan may have room.
function soon.askAgain(poolId)
  timer.armInBackground('pool:grant', poolId, now + retryMs)
end
