--- @export refuse
--- @include lib/invocation
--- The only way to refuse a request. The error reads `CODE head detail`; the head has the rates (lib/call), or is `-`
--- until the caller is known.
local function refuse(code, detail)
  local head = invocation.head and invocation.head() or '-'
  error({ err = code .. ' ' .. head .. ' ' .. (detail or '') })
end
