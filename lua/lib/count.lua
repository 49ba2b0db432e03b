--- @include "lib/space"
--- @include "lib/records"
--- Counters of the space at hand and of its organization (the census, plan usage).
local count = {}

function count.space(name, change)
  records.add(keys.space(), name, change)
end

function count.org(name, change)
  records.add(keys.org(), name, change)
end
