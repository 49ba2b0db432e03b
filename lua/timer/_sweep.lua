--- @export sweep
--- @include lib/clock lib/due lib/sorted lib/space lib/unit
--- Makes what is due in one organization real, in the order of its moments. Each room's _expire.lua registers what its
--- timers do; a timer is spent before it acts, so an action may arm it anew. An action of more than one change is told how
--- many it may make and whether it is the first, and returns how many it made.
local sweep = {}

--- Spends the timers of a set, at most `limit` changes. next: returns the member to come and its moment. Returns that
--- moment at the end, nil where there is none, and how many changes were made.
function sweep.run(key, limit, next)
  local done = 0
  while true do
    local member, at = next(key)
    at = tonumber(at)
    if not at or at > now or done >= limit then return at, done end
    local kind, number, id = string.match(member, '^(%w+:%w+):([^:]+):(.*)$')
    if number ~= spaceNumber then
      unit.write()
      keyspace.turnTo(number)
    end
    sorted.remove(key, member)
    -- A kind that this version does not know (the store served a later one) is no reason to stop the others.
    local act = spaceNumber and due[kind]
    done = done + (act and act(id, at, limit - done, done == 0) or 1)
  end
end

--- What a sweep replies.
function sweep.reply(at, done)
  return { now = now, nextDue = at and string.format('%d', at) or '', more = at and at <= now and 1 or 0, changes = done }
end
