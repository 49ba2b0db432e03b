--- The only way to refuse a request. The error reads `CODE note detail`; the note is lib/call's (the rates), or `-` before
--- the caller is known.
local refusal = {}
local beforeRefusal

function refusal.begin()
  beforeRefusal = nil
end

local function refuse(code, detail)
  local note = beforeRefusal and beforeRefusal() or '-'
  error({ err = code .. ' ' .. note .. ' ' .. (detail or '') })
end
