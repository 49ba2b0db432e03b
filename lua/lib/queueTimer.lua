--- @export queueTimer
--- @include lib/clock lib/invocation lib/timer
--- Serves a queue by a timer. kind: the timer's kind.
local queueTimer = {}
--- The time between two checks for something that no call announces.
local retryMs = 500

--- Serves at the time `at`; if that is now, before the next call that makes changes. For an atomic batch, workers serve
--- the queue: the timer would send the batch back each time.
function queueTimer.serve(kind, id, at)
  if invocation.isAtomic and at <= now then
    timer.armInBackground(kind, id, at)
  else
    timer.arm(kind, id, at)
  end
end

--- Serves again after a while, for a queue whose units may become free without any call announcing it.
function queueTimer.askAgain(kind, id)
  timer.armInBackground(kind, id, now + retryMs)
end
