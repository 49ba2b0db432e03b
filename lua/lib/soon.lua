--- @export soon
--- @include lib/clock lib/invocation lib/timer
--- Serves a queue by a timer. kind: the timer's kind.
local soon = {}
--- How long to wait before checking again for something that no call announces.
local retryMs = 500

--- Serves at the time `at`; if that is now, before the next call that makes changes. In an atomic batch workers do it, as the
--- batch would be sent back for that timer each time.
function soon.serve(kind, id, at)
  if invocation.isWhole and at <= now then
    timer.armInBackground(kind, id, at)
  else
    timer.arm(kind, id, at)
  end
end

--- For a queue whose units may become free without any call saying so.
function soon.askAgain(kind, id)
  timer.armInBackground(kind, id, now + retryMs)
end
