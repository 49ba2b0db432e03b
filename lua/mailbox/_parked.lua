--- @export parked
--- @include lib/clock lib/due lib/freed lib/invocation lib/maps lib/records lib/sorted lib/timer mailbox/_blocked
--- @include mailbox/_mailbox mailbox/_message mailbox/_ready mailbox/_requires scope/_scope
--- Messages that a receive has found short of units: BLOCKED by the first pool or allowance that was short, until that may
--- fit, then READY in their old place. `blockedOn` of the record has its kind and id. Each pool and allowance has a sorted set
--- for each mailbox and scope, as their queues are, and one of these sets.
---
--- Freed units make READY, for each mailbox and scope, the oldest that fit together: any of them may have receivers. One that
--- is short of something else by now waits for that instead, so it keeps nobody from units that it cannot use.
--- A step looks at `maxLooks` and frees `maxFreed` of them; workers do the rest, from where it has come to.
local parked = {}
local maxFreed, maxLooks = 50, 200

local function placeOf(record)
  return record.mailboxId .. ' ' .. record.scopeId
end

--- Takes a message out of the set of a pool or allowance.
local function take(record, member, id)
  local key = keys.parked(id, record.mailboxId, record.scopeId)
  sorted.remove(key, member)
  if sorted.isEmpty(key) then sorted.remove(keys.parkedQueues(id), placeOf(record)) end
  records.set(record, 'blockedOn', false)
end

--- More of an allowance can be had from the moment `at` on, if there is such a moment.
local function lookAt(id, at)
  if not at then return end
  local known = sorted.score(keys.timers(), timer.named('mailbox:quota', id))
  if not known or at < tonumber(known) then timer.arm('mailbox:quota', id, at) end
end

--- A BLOCKED message waits for a pool or an allowance. score: that in its queue; at: as for lookAt.
local function add(record, member, score, kind, id, at)
  records.set(record, 'blockedOn', kind .. ' ' .. id)
  sorted.add(keys.parked(id, record.mailboxId, record.scopeId), score, member)
  if not sorted.score(keys.parkedQueues(id), placeOf(record)) then sorted.add(keys.parkedQueues(id), '0', placeOf(record)) end
  lookAt(id, at)
end

--- A READY message becomes BLOCKED. score: that in its queue; at: the moment from which more can be had, or nil.
function parked.hold(record, path, member, score, kind, id, at)
  local box = mailbox.read(record.mailboxId)
  ready.remove(box.id, path, member, score)
  records.set(box, 'ready', box.ready - 1)
  blocked.hold(record, box)
  add(record, member, score, kind, id, at)
  parked.passOn(record.required)
end

--- One of them ends otherwise.
function parked.forget(record, blockedOn)
  take(record, record.place .. record.id, string.match(blockedOn, '%S+$'))
end

local function free(record, member, score, id)
  take(record, member, id)
  blocked.drop(record)
  message.become(record, 'READY')
  ready.restore(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), score)
end

--- Workers go on with a walk: from the start, or from a set on, behind a member, with the units that are left to that set.
local function leave(kind, id, place, last, left)
  maps.put(keys.parkedWalks(), id, table.concat({ kind, place or '', last or '', left or '' }, '\t'))
  timer.armInBackground('mailbox:parked', id, now)
end

--- Goes through the sets of a pool or allowance, `from` one on ('' for the first) and there behind a member. Returns how many
--- it has looked at.
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

--- Goes through all sets of a pool or allowance; those that an allowance has no units for now wait for the next moment. Returns
--- how many it has looked at, nil where there are none.
function freed.units(kind, id, at)
  if sorted.isEmpty(keys.parkedQueues(id)) then return end
  local looks = walk(kind, id, '', '', nil, at)
  if kind == 'ALLOWANCE' and not sorted.isEmpty(keys.parkedQueues(id)) then
    -- Not sooner: what fits now is READY.
    local _, moreAt = requires.available(kind, id, at)
    if moreAt then timer.arm('mailbox:quota', id, moreAt) end
  end
  return looks
end

--- A message that was READY for units does not take them: others may.
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
  return math.max(1, math.min(limit, walk(kind, id, place, last, tonumber(left))))
end

--- More of an allowance can be had from this moment on.
due['mailbox:quota'] = function(id, at)
  local looks = freed.units('ALLOWANCE', id, at)
  return looks and math.max(1, looks)
end
