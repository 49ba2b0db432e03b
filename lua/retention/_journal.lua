--- @include "lib/clock"
--- @include "lib/space"
--- @include "lib/usage"
--- @include "lib/unit"
--- @include "lib/retained"
--- @include "retention/_stream"
--- The journal says when things finished, in order, and outlives them: no index of them is needed.

--- Removes what events speak of that lie at `through` or before; goes on after the space's `retainedThrough`. True when there may be more.
local function walkJournal(record, through, most)
  local after = record.retainedThrough
  if through < 0 then return false end
  local entries = redis.call('XRANGE', keys.events(), after and '(' .. after or '-', string.format('%d', through), 'COUNT', most)
  if not entries[1] then return false end
  usage.enterToday(record)
  for _, event in ipairs(entries) do
    local act = retained.events[event[2][1]]
    if act then act(string.match(event[2][2], '^%S+'), tonumber((string.match(event[1], '^%d+')))) end
  end
  records.set(record, 'retainedThrough', entries[#entries][1])
  unit.write()
  return #entries == most
end

--- Trims the entries that lie at `through` or before, and says in the same step up to where the journal is gone. True
--- when there may be more.
local function trimJournal(through, most)
  local last, more = trimStream(keys.events(), through, most)
  if last then records.put(keys.space(), 'trimmedThrough', last) end
  return more
end
