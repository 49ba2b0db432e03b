--- @export sweep
--- @include lib/clock lib/closing lib/hooks lib/sorted lib/space lib/unit
--- Runs the due timers of one organization in the order of their moments. Each room registers its handlers,
--- mostly in its _expire.lua. A timer is removed before its handler runs, so the handler may arm it again. A handler
--- that makes more than one change takes the number of changes it may make and whether it is the first of the sweep,
--- and returns how many it made.
local sweep = {}

--- Runs the timers of a set, up to `limit` changes. next: returns the next member and its moment. Returns the next
--- moment left, nil if there is none, and the number of changes made.
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
    -- A kind unknown to this version (from a store that a later one served) must not stop the others.
    local act = spaceNumber and due[kind]
    done = done + (act and act(id, at, limit - done, done == 0) or 1)
    closing.run(at)
  end
end

--- also: another moment that is to be announced, if any.
function sweep.reply(at, done, also)
  local nextDue = math.min(at or math.huge, also or math.huge)
  return { now = now, nextDue = nextDue < math.huge and string.format('%d', nextDue) or '',
    more = at and at <= now and 1 or 0, changes = done }
end
