--- @export sendBack
--- @include lib/invocation
--- Sends the call back to Node, which does what the code says and calls again. The call is counted once. detail: what
--- the code needs, such as the name of a background timer that must run first (lib/timer).
local function sendBack(code, detail)
  invocation.isSentBack = true
  error({ err = code .. ' - ' .. (detail or '') })
end
