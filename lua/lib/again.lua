--- @export again
--- @include lib/invocation lib/timer lib/unit
--- Has Node do something and run the call again (src/engine/call/executor.ts). The call is counted once. Reasons:
--- DUE: due timers must fire first; detail: the names of background timers (timer.named), separated by `;`; nil for all
--- that calls wait for.
--- PACKED: Node must open packed records; detail: which.
--- MORE: the call has not finished, but made changes that are kept.
--- Calls that a route's `serve` runs have reasons of their own.
local function again(reason, detail)
  if reason == 'MORE' then
    if invocation.isAtomic then error('an invocation that is refused as a whole keeps nothing') end
    invocation.changesBeforeCount = unit.changes()
    detail = timer.wake
  end
  invocation.isSentBack = true
  error({ err = reason .. ' - ' .. (detail or '') })
end
