--- @include "lib/undo"
--- Sets as a run changes them: unit.write writes one SADD and one SREM for each. Of one that has changed only whether it
--- has a member can be read.
local sets = {}
--- By key: members, false of those that go.
local changed

function sets.begin()
  changed = {}
end

local function mark(key, member, isThere)
  local members = changed[key]
  if members then put(members, member, isThere) else put(changed, key, { [member] = isThere }) end
end

function sets.add(key, member)
  mark(key, member, true)
end

function sets.remove(key, member)
  mark(key, member, false)
end

function sets.has(key, member)
  local members = changed[key]
  local isThere = members and members[member]
  if isThere ~= nil then return isThere end
  return redis.call('SISMEMBER', key, member) == 1
end

--- For unit.delete.
function sets.forget(key)
  put(changed, key, nil)
end

function sets.isChanged(key)
  return changed[key]
end

function sets.write()
  for key, members in pairs(changed) do
    local added, gone = { 'SADD', key }, { 'SREM', key }
    for member, isThere in pairs(members) do
      local list = isThere and added or gone
      list[#list + 1] = member
    end
    if added[3] then redis.call(unpack(added)) end
    if gone[3] then redis.call(unpack(gone)) end
  end
  changed = {}
end
