--- @include "lib/clock"
--- @include "lib/space"
--- @include "lib/sorted"
--- What is over, by the moment it finished: retention removes it once it has been kept long enough (lib/retained).
local finished = {}

--- kind: `<room>:<kind>`.
function finished.member(kind, id)
  return kind .. ':' .. spaceNumber .. ':' .. id
end

--- at: epoch milliseconds as text.
function finished.add(kind, id, at)
  sorted.add(keys.finished(), at, finished.member(kind, id))
end

--- It is in use again.
function finished.remove(kind, id)
  sorted.remove(keys.finished(), finished.member(kind, id))
end
