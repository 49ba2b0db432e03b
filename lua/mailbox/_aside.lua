--- @export aside
--- @include lib/clock lib/records mailbox/_attempts mailbox/_blocked mailbox/_dropClaim mailbox/_keyed mailbox/_mailbox mailbox/_members
--- @include mailbox/_message mailbox/_proceed mailbox/_ready mailbox/_requires scope/_scope
--- Messages put aside: nobody holds them, and they are BLOCKED until a question has been answered. `blockedOn` is QUESTION
--- and the question's id. Such a message keeps the place of its key, or yields it; then it queues for a place again when it
--- continues.
local aside = {}

--- The question that a message with this `blockedOn` waits for; nil if none.
function aside.of(blockedOn)
  return blockedOn and string.match(blockedOn, '^QUESTION (%S+)$')
end

--- Puts a CLAIMED message aside. Its claim ends without counting as an attempt, and the units it held are free. yieldsKey:
--- so is the place of its key; call keyed.needOrder first.
function aside.put(record, questionId, yieldsKey)
  attempts.keep(record, now, 'ASKED')
  records.set(record, 'attempts', record.attempts - 1)
  if record.groupId then members.released(record, now) end
  if record.place then requires.give(record, now) end
  local box = mailbox.read(record.mailboxId)
  local key = yieldsKey and record.place and message.load(record.id, 'key').key
  records.set(box, 'claimed', box.claimed - 1)
  blocked.hold(record, box)
  message.dropClaim(record)
  records.set(record, 'blockedOn', 'QUESTION ' .. questionId)
  records.set(record, 'questionId', questionId)
  -- The place shows when the wait began, and makes readers look for its question.
  records.set(record, 'place', ready.placeAt(now))
  if key then keyed.leave(record, 'CLAIMED', now) end
end

--- Lets a message that was put aside continue, as of `at`.
function aside.resume(record, at)
  records.set(record, 'blockedOn', false)
  blocked.drop(record)
  message.proceed(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), nil, at)
end
