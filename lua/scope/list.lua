--- Lists scopes, newest first, by states (`,A,B,`), parent, and name or its beginning ('' for all; by beginning, from
--- the last name to the first). A filtered page looks at no more than 1,000 records, so it may be short although more
--- follow. The cursor is the last member looked at.
--- @request read
--- @args states parentScopeId name namePrefix limit cursor
--- @reply nextCursor scopes:scope[]
--- @include lib/call lib/page scope/_scope scope/_subtree
limit = tonumber(limit)
local key, before, from, to = keys.scopes(), '', '+', '-'
if name ~= '' then
  key, before = keys.scopeNames(), name .. '\t'
  -- The line feed is the character after the tab.
  from, to = '(' .. name .. '\n', '[' .. before
elseif namePrefix ~= '' then
  -- No byte of a text is higher.
  key, from, to = keys.scopeNames(), '(' .. namePrefix .. '\255', '[' .. namePrefix
elseif parentScopeId ~= '' then
  key = keys.gates(parentScopeId)
end
if cursor ~= '' then from = '(' .. before .. cursor end
local maxLooks = states == '' and (name .. namePrefix == '' or parentScopeId == '') and limit or 1000

local function wanted(member)
  local record = scope.view(string.sub(member, -36))
  if among(scope.counted(record), states) and (parentScopeId == '' or record.parentScopeId == parentScopeId) then
    return record
  end
end

local members = redis.call('ZRANGE', key, from, to, 'BYLEX', 'REV', 'LIMIT', 0, maxLooks + 1)
local scopes, last = sift(members, limit, maxLooks, wanted)
return call.answer({ nextCursor = last and string.sub(last, #before + 1), scopes = scopes })
