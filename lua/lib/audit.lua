--- @include "lib/unit"
--- The organization's audit trail: what was changed, by which key or the CLI. Its entry ids carry the moment.
local function audit(action, actor, target, detail)
  streams.addLong(keys.audit(), 'action', action, 'actor', actor, 'target', target, 'detail', detail)
end

--- An entry of the trail by name; one that an operator wrote by hand may lack some of it.
local function audited(entry)
  local record, fields = { at = string.match(entry[1], '^%d+'), action = '', actor = '', target = '', detail = '' }, entry[2]
  for i = 1, #fields, 2 do record[fields[i]] = fields[i + 1] end
  return record
end
