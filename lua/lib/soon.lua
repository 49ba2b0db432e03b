--- @export soon
--- @include lib/clock lib/invocation lib/timer
--- When a queue is served by a timer. kind: that of the timer.
local soon = {}
--- How long something waits for another look at what no call tells of.
local retryMs = 500

--- At the time `at`: where that is now, before the next call that changes something. Where a call that follows in the same
--- invocation would be sent back for that, for ever, workers do it at once.
function soon.serve(kind, id, at)
  if invocation.isWhole and at <= now then
    timer.armInBackground(kind, id, at)
  else
    timer.arm(kind, id, at)
  end
end

--- What the queue waits for may be there, but no call tells of it.
function soon.askAgain(kind, id)
  timer.armInBackground(kind, id, now + retryMs)
end
