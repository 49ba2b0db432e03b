--- @include "lib/clock"
--- @include "lib/space"
--- @include "lib/usage"
--- @include "lib/unit"
--- @include "lib/retained"
--- @include "retention/_stream"
--- The journal says in order when messages finished, and is kept longer than they are, so they need no index of their own.

--- Removes the records that events at `through` or before are about, starting after the space's `retainedThrough`. Returns
--- whether there may be more.
local function walkJournal(record, through, maxEntries)
  local after = record.retainedThrough
  if through < 0 then return false end
  local entries = redis.call('XRANGE', keys.events(), after and '(' .. after or '-', string.format('%d', through), 'COUNT', maxEntries)
  if not entries[1] then return false end
  usage.enterToday(record)
  for _, event in ipairs(entries) do
    local act = retained.events[event[2][1]]
    if act then act((string.match(event[2][2], '^%S+'))) end
  end
  records.set(record, 'retainedThrough', entries[#entries][1])
  unit.write()
  return #entries == maxEntries
end

--- Trims the entries at `through` or before, and stores the last trimmed id in the same step. Returns whether there may be
--- more.
local function trimJournal(through, maxEntries)
  local last, more = trimStream(keys.events(), through, maxEntries)
  if last then records.put(keys.space(), 'trimmedThrough', last) end
  return more
end
