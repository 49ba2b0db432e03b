--- @export keyed
--- @include lib/again lib/call lib/clock lib/hooks lib/invocation lib/records lib/sorted lib/timer mailbox/_blocked
--- @include mailbox/_mailbox mailbox/_message mailbox/_others mailbox/_ready scope/_scope
--- Messages with a key. Of each key, at most the mailbox's `perKey` messages are *active*: READY, CLAIMED, between two
--- attempts, parked (mailbox/_parked) or put aside (mailbox/_return). The others are BLOCKED and follow in the order in
--- which the key became the last thing they wait for. Each key has a sorted set of its active messages, and one of its
--- waiting messages, scored by when they began to wait. The mailbox has a set of the keys with waiting messages.
---
--- Active messages are counted without a `perKey` as well, as it may be set later.
local keyed = {}
--- How many messages a change of `perKey` frees at once; workers free the others.
local maxFreed = 50

local function limitOf(mailboxId)
  return mailbox.load(mailboxId, 'perKey').perKey or math.huge
end

--- Call it before the active messages of a mailbox's keys change at `at`. DELAYED messages due by then come first, and
--- become active or wait for their key. If there are any, a request is sent back until a background step has handled
--- them; in a worker's step they are handled here.
function keyed.needRipened(mailboxId, at)
  local box, script = mailbox.load(mailboxId, 'nextReadyAt', 'orderedDelayed'), invocation.script
  if not box.nextReadyAt or box.nextReadyAt > at or box.orderedDelayed == 0 then return end
  if not script or script.kind ~= 'write' then return ripening.through(mailboxId, at) end
  if box.nextReadyAt <= (tonumber(sweptThrough) or now) then
    again('DUE', timer.named('mailbox:delays', mailboxId))
  end
end

--- Like needRipened, before a message that may have a key becomes active or ends.
function keyed.needOrder(record, at)
  if not record.place or not message.load(record.id, 'key').key then return end
  if mailbox.load(record.mailboxId, 'perKey').perKey then keyed.needRipened(record.mailboxId, at) end
end

--- Makes the first messages that wait for a key READY as of `at`: as many as have room, at most `limit`. Returns how
--- many.
local function free(mailboxId, key, limit, at)
  local active, waiting, freed = keys.keyActive(mailboxId, key), keys.keyWaiting(mailboxId, key), 0
  local member, since = sorted.first(waiting)
  local room = math.min(limit, limitOf(mailboxId) - sorted.count(active))
  while member and freed < room do
    local record = message.read(string.sub(member, -36))
    sorted.remove(waiting, member)
    sorted.add(active, '0', record.id)
    blocked.drop(record)
    message.become(record, 'READY')
    ready.put(record, scope.path(record.scopeId), mailbox.read(mailboxId), math.max(at, tonumber(since)))
    member, since = sorted.first(waiting)
    freed = freed + 1
  end
  if not member then sorted.remove(keys.waitedKeys(mailboxId), key) end
  return freed
end

--- Removes an active message that has ended, and frees the next one. A process of a version in which a question passed
--- the place on leaves it behind when it ends a message that has kept its place.
local function heal(mailboxId, key, active)
  local id = sorted.first(active)
  local found = id and message.stored(id, 'state')
  if not id or found and message.isLive(found) then return end
  sorted.remove(active, id)
  free(mailboxId, key, 1, now)
end

--- Makes a message READY as of `at`, or BLOCKED if its key has no room. An active message stays active.
function keyed.proceed(record, path, box, at)
  local key = record.place and message.load(record.id, 'key').key
  if key then
    local active, waiting = keys.keyActive(box.id, key), keys.keyWaiting(box.id, key)
    if not sorted.score(active, record.id) then
      if sorted.count(active) >= limitOf(box.id) then heal(box.id, key, active) end
      if not sorted.isEmpty(waiting) or sorted.count(active) >= limitOf(box.id) then
        blocked.hold(record, box)
        records.set(record, 'place', ready.placeAt(at))
        sorted.add(waiting, string.format('%d', at), record.place .. record.id)
        sorted.add(keys.waitedKeys(box.id), '0', key)
        return
      end
      sorted.add(active, '0', record.id)
    end
  end
  message.become(record, 'READY')
  ready.put(record, path, box, at)
end

--- A message with a key has ended at `at`, or yields its place while it is put aside: the next one of its key follows,
--- if it had a place. from: its previous state.
function keyed.leave(record, from, at)
  local key = record.key
  local active = keys.keyActive(record.mailboxId, key)
  if from == 'BLOCKED' and not sorted.score(active, record.id) then
    local waiting = keys.keyWaiting(record.mailboxId, key)
    sorted.remove(waiting, record.place .. record.id)
    if sorted.isEmpty(waiting) then sorted.remove(keys.waitedKeys(record.mailboxId), key) end
  else
    sorted.remove(active, record.id)
    if not sorted.isEmpty(keys.waitedKeys(record.mailboxId)) then free(record.mailboxId, key, 1, at) end
  end
end

--- After `perKey` was raised, continues through the keys with waiting messages and frees at most `limit` messages; a
--- key that frees none counts as one. Returns how many, and whether there are more.
local function freeAll(mailboxId, limit)
  local box, waited, done = mailbox.load(mailboxId, 'freedThrough'), keys.waitedKeys(mailboxId), 0
  local list = sorted.byName(waited, '', box.freedThrough or '', limit)
  for _, key in ipairs(list) do
    local freed = free(mailboxId, key, limit - done, now)
    -- This key may have more.
    if freed == limit - done then return limit, true end
    done = done + math.max(1, freed)
    records.set(box, 'freedThrough', key)
    if done == limit then return limit, true end
  end
  if #list == limit then return done, true end
  records.set(box, 'freedThrough', false)
  return done, false
end

--- `perKey` was raised or removed.
function keyed.raised(mailboxId)
  records.set(mailbox.load(mailboxId, 'freedThrough'), 'freedThrough', false)
  local _, more = freeAll(mailboxId, maxFreed)
  if more then timer.armInBackground('mailbox:perKey', mailboxId, now) end
end

due['mailbox:perKey'] = function(mailboxId, _, limit)
  if not mailbox.load(mailboxId, 'mode') then return end
  local done, more = freeAll(mailboxId, math.ceil(limit / 2))
  if more then timer.armInBackground('mailbox:perKey', mailboxId, now) end
  return more and limit or math.max(1, 2 * done)
end

--- The only active message of a key if `perKey` is 1; else nil.
function keyed.holder(mailboxId, key)
  return limitOf(mailboxId) == 1 and sorted.first(keys.keyActive(mailboxId, key)) or nil
end
