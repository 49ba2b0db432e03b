--- @export aside
--- @include lib/clock lib/records mailbox/_attempts mailbox/_blocked mailbox/_dropClaim mailbox/_keyed mailbox/_mailbox mailbox/_members
--- @include mailbox/_message mailbox/_proceed mailbox/_ready mailbox/_requires scope/_scope
--- Messages that are put aside: BLOCKED until a question has been answered, while nobody holds them. `blockedOn` is QUESTION
--- and its id.
local aside = {}

--- The question that a message waits for, by its `blockedOn`; nil: none.
function aside.of(blockedOn)
  return blockedOn and string.match(blockedOn, '^QUESTION (%S+)$')
end

--- Puts a CLAIMED message aside. Its claim is over and its attempt is taken back; its key's turn and the units that it holds
--- are for others. Call keyed.needOrder first.
function aside.put(record, questionId)
  attempts.keep(record, now, 'ASKED')
  records.set(record, 'attempts', record.attempts - 1)
  if record.groupId then members.released(record, now) end
  if record.place then requires.give(record, now) end
  local box, key = mailbox.read(record.mailboxId), record.place and message.load(record.id, 'key').key
  records.set(box, 'claimed', box.claimed - 1)
  blocked.hold(record, box)
  message.dropClaim(record)
  records.set(record, 'blockedOn', 'QUESTION ' .. questionId)
  records.set(record, 'questionId', questionId)
  -- Since when it waits; and whoever reads a message with a place looks for its question.
  records.set(record, 'place', ready.placeAt(now))
  if key then keyed.leave(record, 'CLAIMED', now) end
end

--- A message that was put aside may go on since `at`.
function aside.resume(record, at)
  records.set(record, 'blockedOn', false)
  blocked.drop(record)
  message.proceed(record, scope.path(record.scopeId), mailbox.read(record.mailboxId), nil, at)
end
