--- @export finished
--- @include lib/sorted lib/space
--- Finished records by the time they finished; retention removes them after their retention period (lib/hooks).
local finished = {}

--- kind: `<room>:<kind>`.
function finished.member(kind, id)
  return kind .. ':' .. spaceNumber .. ':' .. id
end

--- at: epoch milliseconds as text.
function finished.add(kind, id, at)
  sorted.add(keys.finished(), at, finished.member(kind, id))
end

--- The member of this kind and time that begins with `start`; nil if there is none.
function finished.find(kind, start, at)
  local prefix = finished.member(kind, start)
  local member = sorted.beginningWith(keys.finished(), at, prefix)
  return member and string.sub(member, #finished.member(kind, '') + 1)
end

--- Removes a record that is in use again.
function finished.remove(kind, id)
  sorted.remove(keys.finished(), finished.member(kind, id))
end
