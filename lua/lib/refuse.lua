--- @export refuse
--- @include lib/invocation
--- The only way to refuse a request. The error reads `CODE note detail`; the note has the rates (lib/call), or is `-`
--- until the caller is known.
local function refuse(code, detail)
  local note = invocation.note and invocation.note() or '-'
  error({ err = code .. ' ' .. note .. ' ' .. (detail or '') })
end
