--- @export keyed
--- @include lib/call lib/clock lib/due lib/invocation lib/records lib/sendBack lib/sorted lib/timer mailbox/_blocked
--- @include mailbox/_mailbox mailbox/_message mailbox/_ready mailbox/_ripening scope/_scope
--- Messages with a key: of each key at most `perKey` of the mailbox are *active*, which is READY, CLAIMED or between two
--- attempts. The others are BLOCKED, and follow in the order in which nothing but the key was in their way any more. Each key
--- has a sorted set of the active ones and one of those that wait for it, by the moment since which they do; the mailbox
--- has a set of the keys that any message waits for.
---
--- Active messages are counted without `perKey`, too: it may be set later.
local keyed = {}
--- How many messages a change of `perKey` frees in its own step; workers free the rest.
local maxFreed = 50

local function limitOf(mailboxId)
  return mailbox.load(mailboxId, 'perKey').perKey or math.huge
end

--- Before anything changes at `at` in who is active of a mailbox's keys: DELAYED messages that were due by then have waited
--- for their keys since, or become active. A request is sent back for that; workers do it themselves.
function keyed.needRipened(mailboxId, at)
  local box, script = mailbox.load(mailboxId, 'nextReadyAt', 'orderedDelayed'), invocation.script
  if not box.nextReadyAt or box.nextReadyAt > at or box.orderedDelayed == 0 then return end
  if not script or script.kind ~= 'write' then return ripening.through(mailboxId, at) end
  if box.nextReadyAt <= (tonumber(drainedThrough) or now) then sendBack('DUE', timer.named('mailbox:delays', mailboxId)) end
end

--- The same, before a message that may have a key becomes active or ends.
function keyed.needOrder(record, at)
  if not record.place or not message.load(record.id, 'key').key then return end
  if mailbox.load(record.mailboxId, 'perKey').perKey then keyed.needRipened(record.mailboxId, at) end
end

--- Makes a message READY since `at`, or BLOCKED where its key has no room for it. A message that is active already stays so.
function keyed.proceed(record, path, box, at)
  local key = record.place and message.load(record.id, 'key').key
  if key then
    local active, waiting = keys.keyActive(box.id, key), keys.keyWaiting(box.id, key)
    if not sorted.score(active, record.id) then
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

--- Makes the first messages that wait for a key READY since `at`, as many as there is room for, at most `limit`. Returns how
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

--- A message with a key is over since `at`, or given up until a person has answered: the next of its key follows. from: its state before.
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

--- Goes on through the keys that messages wait for, after `perKey` was raised, and frees at most `limit` messages; a key of
--- which it frees none counts as one. Returns how many, and whether there are more.
local function freeAll(mailboxId, limit)
  local box, waited, done = mailbox.load(mailboxId, 'freedThrough'), keys.waitedKeys(mailboxId), 0
  local list = sorted.byName(waited, '', box.freedThrough or '', limit)
  for _, key in ipairs(list) do
    local freed = free(mailboxId, key, limit - done, now)
    -- The same key may have more.
    if freed == limit - done then return limit, true end
    done = done + math.max(1, freed)
    records.set(box, 'freedThrough', key)
    if done == limit then return limit, true end
  end
  if #list == limit then return done, true end
  records.set(box, 'freedThrough', false)
  return done, false
end

--- `perKey` was raised, or is none any more.
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

--- The one message that is active of a key of which only one may be; nil: any other key.
function keyed.holder(mailboxId, key)
  return limitOf(mailboxId) == 1 and sorted.first(keys.keyActive(mailboxId, key)) or nil
end
