--- @export sendBack
--- @include lib/invocation
--- Sends the call back to Node, which does what the code says and calls again: the call is not counted twice.
--- detail: what it needs; of a background timer that must come first, its name (lib/timer).
local function sendBack(code, detail)
  invocation.isSentBack = true
  error({ err = code .. ' - ' .. (detail or '') })
end
