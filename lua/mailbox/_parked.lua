--- @export parked
--- @include lib/clock lib/hooks lib/invocation lib/maps lib/records lib/sorted lib/timer mailbox/_blocked
--- @include mailbox/_mailbox mailbox/_message mailbox/_ready mailbox/_requires scope/_scope
--- Parked messages: a receive has found too few units for them. Each is BLOCKED by the first pool or allowance that was
--- short, and becomes READY in its old place once that pool or allowance may have enough. Its `blockedOn` has the kind
--- and id. Each pool and allowance has a sorted set of parked messages for each mailbox and scope, in the order of
--- their queues, and a set that lists these sets.
---
--- For each mailbox and scope, freed units make READY the oldest messages that fit together, since any of these queues
--- may have receivers. A message that is now short of something else is parked there, so it keeps no other message from
--- units that it cannot use itself. A step looks at `maxLooks` messages and frees `maxFreed`; workers continue from
--- there.
local parked = {}
local maxFreed, maxLooks = 50, 200

local function placeOf(record)
  return record.mailboxId .. ' ' .. record.scopeId
end

local function take(record, member, id)
  local key = keys.parked(id, record.mailboxId, record.scopeId)
  sorted.remove(key, member)
  if sorted.isEmpty(key) then sorted.remove(keys.parkedQueues(id), placeOf(record)) end
  records.set(record, 'blockedOn', false)
end

--- Looks again at the moment `at`, when an allowance may have more units; nil if there is no such moment.
local function lookAt(id, at)
  if not at then return end
  local known = sorted.score(keys.timers(), timer.named('mailbox:quota', id))
  if not known or at < tonumber(known) then timer.arm('mailbox:quota', id, at) end
end

--- Parks a BLOCKED message. score: its score in its queue; at: see lookAt.
local function add(record, member, score, kind, id, at)
  records.set(record, 'blockedOn', kind .. ' ' .. id)
  sorted.add(keys.parked(id, record.mailboxId, record.scopeId), score, member)
  if not sorted.score(keys.parkedQueues(id), placeOf(record)) then
    sorted.add(keys.parkedQueues(id), '0', placeOf(record))
  end
  lookAt(id, at)
end

--- Parks a READY message, which becomes BLOCKED. score: its score in its queue; at: when more units may be available,
--- or nil.
function parked.hold(record, path, member, score, kind, id, at)
  local box = mailbox.read(record.mailboxId)
  ready.remove(box.id, path, member, score)
  records.set(box, 'ready', box.ready - 1)
  blocked.hold(record, box)
  add(record, member, score, kind, id, at)
  parked.passOn(record.required)
end

--- A parked message ends for another reason.
function parked.forget(record, blockedOn)
  take(record, record.place .. record.id, string.match(blockedOn, '%S+$'))
end

local function free(record, member, score, id)
  take(record, member, id)
  blocked.drop(record)
  message.become(record, 'READY')
  ready.restore(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), score)
end

--- Leaves the rest of a walk to the workers. place: the set to continue with, nil to start from the first; last: the
--- member of that set to continue after; left: the units left for that set.
local function leave(kind, id, place, last, left)
  maps.put(keys.parkedWalks(), id, table.concat({ kind, place or '', last or '', left or '' }, '\t'))
  timer.armInBackground('mailbox:parked', id, now)
end

--- Walks through the parked messages of a pool or allowance. from: the set to start with, '' for the first; last,
--- leftThere: the member of that set to start after, and the units left for that set. Returns how many messages it has
--- looked at.
local function walk(kind, id, from, last, leftThere, at)
  local room = requires.available(kind, id, at)
  if room <= 0 then return 0 end
  local sets, looks, freedCount = keys.parkedQueues(id), 0, 0
  local list = sorted.behind(sets, from, maxLooks + 1)
  local places = { from ~= '' and from or nil }
  for i = 1, #list, 2 do places[#places + 1] = list[i] end
  for _, place in ipairs(places) do
    local mailboxId, scopeId = string.match(place, '^(%S+) (%S+)$')
    local isResumed = place == from
    local left = isResumed and leftThere and math.min(room, leftThere) or room
    local entries = sorted.behind(keys.parked(id, mailboxId, scopeId), isResumed and last or '', maxLooks - looks + 1)
    for n = 1, #entries, 2 do
      if left == 0 then break end
      if looks == maxLooks or freedCount == maxFreed then
        leave(kind, id, place, entries[n - 2] or isResumed and last, left)
        return looks
      end
      local member = entries[n]
      local record = message.read(string.sub(member, -36))
      local required = message.load(record.id, 'required').required
      local units = requires.unitsOf(required, id)
      looks = looks + 1
      if units <= left then
        local otherKind, otherId, moreAt = requires.short(required, at)
        if otherId then
          take(record, member, id)
          add(record, member, entries[n + 1], otherKind, otherId, moreAt)
        else
          left, freedCount = left - units, freedCount + 1
          free(record, member, entries[n + 1], id)
        end
      end
    end
  end
  return looks
end

--- Walks through all parked messages of a pool or allowance. If some remain parked at an allowance, the walk is
--- repeated when the allowance has more units. Returns how many it has looked at, nil if none were parked.
function freed.units(kind, id, at)
  if sorted.isEmpty(keys.parkedQueues(id)) then return end
  local looks = walk(kind, id, '', '', nil, at)
  if kind == 'ALLOWANCE' and not sorted.isEmpty(keys.parkedQueues(id)) then
    -- No earlier look is needed: every message that fits now is READY.
    local _, moreAt = requires.available(kind, id, at)
    if moreAt then timer.arm('mailbox:quota', id, moreAt) end
  end
  return looks
end

--- Passes on the units that a READY message would have taken but now will not.
function parked.passOn(text)
  requires.each(text, function(kind, id)
    if not sorted.isEmpty(keys.parkedQueues(id)) and requires.available(kind, id) > 0 then leave(kind, id) end
  end)
end

due['mailbox:parked'] = function(id, _, limit)
  local known = maps.get(keys.parkedWalks(), id)
  if not known then return end
  local kind, place, last, left = string.match(known, '^(%S+)\t([^\t]*)\t([^\t]*)\t(.*)$')
  maps.remove(keys.parkedWalks(), id)
  -- Nobody is parked there any more; a pool may even have been deleted since.
  if sorted.isEmpty(keys.parkedQueues(id)) then return 1 end
  return math.max(1, math.min(limit, walk(kind, id, place, last, tonumber(left))))
end

--- An allowance may have more units.
due['mailbox:quota'] = function(id, at)
  local looks = freed.units('ALLOWANCE', id, at)
  return looks and math.max(1, looks)
end
