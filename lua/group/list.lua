--- Lists groups in the states `,A,B,` ('' for all), newest first. A page scans at most 1,000 groups and members and,
--- after its first group, 4 MiB of outcomes, so it may be short although more follow; the next cursor is the last id
--- scanned. A page ends before a group with damaged outcomes. If that group would be the first of a page, the page is
--- refused with the group's id, which is the cursor to continue with.
--- @request read
--- @args states limit cursor
--- @reply nextCursor groups:group[]
--- @include lib/call lib/page group/_group group/_view mailbox/_packed
limit = tonumber(limit)
local scanLimit, bytesLimit = 1000, 4194304
local ids = idsBefore(keys.groups(), cursor, scanLimit + 1)
local chosen, scanned, last, more = {}, 0, false, false
for _, groupId in ipairs(ids) do
  if #chosen == limit or scanned >= scanLimit then
    more = true
    break
  end
  scanned, last = scanned + 1, groupId
  if among(group.load(groupId, 'state').state, states) then
    local record = group.load(groupId)
    if group.isVisible(record) then
      chosen[#chosen + 1] = record
      scanned = scanned + record.members
    end
  end
end
local page, bytes = {}, 0
for i, record in ipairs(group.withMembers(chosen)) do
  local damaged = group.damaged(record)
  if damaged and i == 1 then packed.refuseDamaged(damaged, record.id) end
  if damaged or bytes >= bytesLimit then
    more, last = true, page[i - 1].id
    break
  end
  local shown, size = group.view(record)
  page[i], bytes = shown, bytes + size
end
return call.answer({ nextCursor = more and last, groups = page })
