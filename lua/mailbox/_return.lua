--- @export aside
--- @include lib/clock lib/records lib/sorted mailbox/_attemptLimit mailbox/_blocked mailbox/_claim mailbox/_delay
--- @include mailbox/_keyed mailbox/_mailbox mailbox/_message mailbox/_others mailbox/_ready mailbox/_requires
--- @include scope/_scope
--- How a message becomes ready again.

--- Continues with a message that, from `at` on, only its sender's delay (until `readyAt`, nil for none) and its key can
--- hold back.
function message.enqueue(record, path, box, readyAt, at)
  if readyAt and readyAt > now then
    -- The place shows when it began to wait (mailbox/_hooks).
    records.set(record, 'place', ready.placeAt(now))
    delay.hold(record, box, readyAt)
  else
    at = math.max(at, readyAt or 0)
    keyed.needOrder(record, at)
    keyed.proceed(record, path, box, at)
  end
end

local ofClaim = { 'token', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt' }

--- Ends the claim of a message that continues without it.
function message.dropClaim(record)
  for _, field in ipairs(ofClaim) do records.set(record, field, false) end
  attemptLimit.forget(record)
  sorted.remove(keys.claims(), record.id)
end

--- Messages put aside: nobody holds them, and they are BLOCKED until a question has been answered (`blockedOn` is
--- QUESTION and the question's id) or their suspension ends (SUSPENSION). Such a message keeps the place of its key, or
--- yields it; then it queues for a place again when it continues.
local aside = {}

--- The question that a message with this `blockedOn` waits for; nil if none.
function aside.of(blockedOn)
  return blockedOn and string.match(blockedOn, '^QUESTION (%S+)$')
end

--- Puts a CLAIMED message aside. Its claim ends without counting as an attempt, and the units it held are free.
--- outcome: of the attempt; yieldsKey: the place of its key is free, too; call keyed.needOrder first.
function aside.put(record, outcome, blockedOn, yieldsKey)
  attempts.keep(record, now, outcome)
  records.set(record, 'attempts', record.attempts - 1)
  if record.groupId then members.released(record, now) end
  if record.place then requires.give(record, now) end
  local box = mailbox.read(record.mailboxId)
  local key = yieldsKey and record.place and message.load(record.id, 'key').key
  records.set(box, 'claimed', box.claimed - 1)
  blocked.hold(record, box)
  message.dropClaim(record)
  records.set(record, 'blockedOn', blockedOn)
  -- The place shows when the wait began, and makes readers look for its question or suspension.
  records.set(record, 'place', ready.placeAt(now))
  if key then keyed.leave(record, 'CLAIMED', now) end
end

--- Lets a message that was put aside continue, as of `at`.
function aside.resume(record, at)
  records.set(record, 'blockedOn', false)
  blocked.drop(record)
  message.enqueue(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), nil, at)
end

--- Returns a CLAIMED message to its mailbox at the moment `at`, for another attempt after a pause (nil: the mailbox's
--- setting). If its group is decided, cancels it instead.
function message.release(record, at, pauseSeconds)
  if record.groupId and members.released(record, at) then return end
  if record.place then requires.give(record, at) end
  message.needTrace(record)
  local box = mailbox.read(record.mailboxId)
  records.set(box, 'claimed', box.claimed - 1)
  if not pauseSeconds then
    -- A message with pauses of its own has a place.
    local own = record.place and message.load(record.id, 'retryDelaySeconds', 'maxRetryDelaySeconds')
    pauseSeconds = mailbox.pauseSeconds(record.mailboxId, record.attempts, own)
  end
  local readyAt = at + 1000 * pauseSeconds
  if readyAt > now then
    -- The place shows when it began to wait (mailbox/_hooks).
    records.set(record, 'place', ready.placeAt(at))
    delay.hold(record, box, readyAt)
  else
    message.become(record, 'READY')
    ready.put(record, scope.path(record.scopeId), box, readyAt)
  end
  message.dropClaim(record)
  emit.message.retried(record.id, record)
end
