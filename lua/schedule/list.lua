--- Schedules, newest first, or only the one with this name. A page ends after 4 MiB of payloads; the next cursor is its
--- last id.
--- @request read
--- @args limit cursor name
--- @reply nextCursor schedules:schedule[]
--- @include lib/call lib/caller lib/maps lib/page schedule/_schedule
local maxBytes = 4194304
local ids, nextCursor
if name == '' then
  ids, nextCursor = page(keys.schedules(), limit, cursor)
else
  ids = { maps.get(keys.scheduleNames(), name) or nil }
end
local found, bytes = {}, 0
for i, scheduleId in ipairs(ids) do
  local record = schedule.view(scheduleId)
  if caller.hasMailbox(record.mailboxId) then found[#found + 1], bytes = record, bytes + #record.payload end
  if bytes > maxBytes and ids[i + 1] then
    nextCursor = scheduleId
    break
  end
end
return call.answer({ nextCursor = nextCursor or false, schedules = found })
