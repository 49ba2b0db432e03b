--- @export audit auditPage inSpace
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

--- A page of the audit trail, newest first, before `cursor` ('' for the newest): the entries, and the id of the last
--- one looked at if there are more. keyId: only what this key did, bound to a holder or not; '' for all. A page looks
--- at 1,000 entries at most.
local function auditPage(limit, cursor, keyId)
  limit = tonumber(limit)
  local most = keyId == '' and limit or 1000
  local found = redis.call('XREVRANGE', keys.audit(), cursor == '' and '+' or '(' .. cursor, '-', 'COUNT', most + 1)
  local entries = {}
  for i, entry in ipairs(found) do
    if i > most or #entries == limit then return entries, found[i - 1][1] end
    local record = audited(entry)
    if keyId == '' or string.match(record.actor, '^%S*') == keyId then entries[#entries + 1] = record end
  end
  return entries, false
end
