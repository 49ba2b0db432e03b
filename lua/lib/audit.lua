--- @export audit audited
--- @include lib/streams
--- The organization's audit trail: what changed, and which API key or the CLI changed it. Entry ids carry the time.
local function audit(action, actor, target, detail)
  streams.addLong(keys.audit(), 'action', action, 'actor', actor, 'target', target, 'detail', detail)
end

--- An audit entry as a record. An entry that an operator wrote by hand may lack fields.
local function audited(entry)
  local record, fields = { at = string.match(entry[1], '^%d+'), action = '', actor = '', target = '', detail = '' },
    entry[2]
  for i = 1, #fields, 2 do record[fields[i]] = fields[i + 1] end
  return record
end
