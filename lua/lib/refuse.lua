--- The only way to fail. Nothing but the rate counters may have been written before it is called:
--- Redis does not roll a script back. The error reads `CODE note detail`, where the note is lib/call's
--- (what the caller may still use of its rates) or `-` before the caller is known.
local refusal = {}
local beforeRefusal

function refusal.begin()
  beforeRefusal = nil
end

local function refuse(code, detail)
  local note = beforeRefusal and beforeRefusal() or '-'
  error({ err = code .. ' ' .. note .. ' ' .. (detail or '') })
end
