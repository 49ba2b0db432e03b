--- Scopes, newest first, of the states `,A,B,`, below this parent, with this name ('' for all). A filtered page looks at no
--- more than 1,000 records, so it may be short while there is more; the cursor is the place of the last one looked at.
--- @request read
--- @args states parentScopeId name limit cursor
--- @reply nextCursor scopes:scope[]
--- @include lib/call scope/_scope scope/_view
limit = tonumber(limit)
local key, before, from, to = keys.scopes(), '', '+', '-'
if name ~= '' then
  key, before = keys.scopeNames(), name .. '\t'
  -- The character after the tab.
  from, to = '(' .. name .. '\n', '[' .. before
elseif parentScopeId ~= '' then
  key = keys.gates(parentScopeId)
end
if cursor ~= '' then from = '(' .. before .. cursor end
local scanLimit = states == '' and (name == '' or parentScopeId == '') and limit or 1000
local members = redis.call('ZRANGE', key, from, to, 'BYLEX', 'REV', 'LIMIT', 0, scanLimit + 1)
local page, last, more = {}, false, false
for i, member in ipairs(members) do
  if #page == limit or i > scanLimit then
    more = true
    break
  end
  last = string.sub(member, #before + 1)
  local record = scope.view(string.sub(member, -36))
  if (states == '' or string.find(states, ',' .. scope.counted(record) .. ',', 1, true))
    and (parentScopeId == '' or record.parentScopeId == parentScopeId) then
    page[#page + 1] = record
  end
end
return call.answer({ nextCursor = more and last, scopes = page })
