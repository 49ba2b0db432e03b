--- @export audit audited inSpace
--- @include lib/space lib/streams
--- The organization's audit trail: what changed, and who changed it, a caller.actor or `cli`. Entry ids carry the
--- time.
local function audit(action, actor, target, detail)
  streams.addLong(keys.audit(), 'action', action, 'actor', actor, 'target', target, 'detail', detail)
end

--- The detail of an entry about a record of the space. more: further JSON members, such as `"removed":3`; may be nil.
local function inSpace(more)
  return '{"spaceId":"' .. spaceId .. '"' .. (more and ',' .. more or '') .. '}'
end

--- An audit entry as a record. An entry that an operator wrote by hand may lack fields.
local function audited(entry)
  local record, fields = { at = string.match(entry[1], '^%d+'), action = '', actor = '', target = '', detail = '' },
    entry[2]
  for i = 1, #fields, 2 do record[fields[i]] = fields[i + 1] end
  return record
end
