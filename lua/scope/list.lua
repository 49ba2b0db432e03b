--- Lists scopes, newest first, by states (`,A,B,`), parent, and name or its beginning ('' for all; by beginning, from
--- the last name to the first). A filtered page looks at no more than 500 records, so it may be short although more
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
local maxLooks = states == '' and (name .. namePrefix == '' or parentScopeId == '') and limit or 500

local function wanted(member)
  local id = string.sub(member, -36)
  local path = scope.path(id)
  if parentScopeId ~= '' and path[#path - 1] ~= parentScopeId then return nil end
  -- Most records are passed over for their state, which few fields tell.
  if states ~= '' then
    local state = scope.cancelOf(path) and 'CANCELLED' or scope.counted(scope.load(id, 'path', 'live', 'cancelledAt'))
    if not among(state, states) then return nil end
  end
  return scope.view(id)
end

local members = redis.call('ZRANGE', key, from, to, 'BYLEX', 'REV', 'LIMIT', 0, maxLooks + 1)
local scopes, last = sift(members, limit, maxLooks, wanted)
return call.answer({ nextCursor = last and string.sub(last, #before + 1), scopes = scopes })
