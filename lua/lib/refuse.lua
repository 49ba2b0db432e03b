--- @export refuse
--- @include lib/invocation
--- The only way to refuse a request. The error reads `CODE note detail`; the note is lib/call's (the rates), or `-` before
--- the caller is known.
local function refuse(code, detail)
  local note = invocation.note and invocation.note() or '-'
  error({ err = code .. ' ' .. note .. ' ' .. (detail or '') })
end
