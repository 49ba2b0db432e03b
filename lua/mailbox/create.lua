--- Creates a mailbox. mode '': WORK; recipientId '': none. unique '1': if the name is taken, replies with the oldest
--- mailbox of that name instead, unless a mode or recipientId is given and differs.
--- @request write
--- @args name mode recipientId backlogLimit maxAttempts retryDelaySeconds maxRetryDelaySeconds perKey progressEvents
--- @args attemptSeconds unique tail
--- @reply id createdAt mailbox:mailbox
--- @include lib/call lib/caller lib/clock lib/id lib/plan lib/refuse lib/sorted mailbox/_attemptLimit
--- @include mailbox/_mailbox mailbox/_reports mailbox/_view
local known = unique == '1' and names.oldest(name)
if known then
  caller.needMailbox(known)
  local first = mailbox.view(known)
  if mode ~= '' and mode ~= first.mode then refuse('MAILBOX_CONFLICT', 'mode ' .. known .. ' ' .. first.mode) end
  if recipientId ~= '' and recipientId ~= first.recipientId then
    refuse('MAILBOX_CONFLICT', 'recipientId ' .. known .. ' ' .. first.recipientId)
  end
  return call.answer({ id = known, createdAt = first.createdAt, mailbox = first })
end
plan.needOperation()
if mode == '' then mode = 'WORK' end

local mailboxId = newId(tail)
mailbox.insert({ id = mailboxId, ready = 0, claimed = 0, mode = mode, backlogLimit = tonumber(backlogLimit),
  maxAttempts = tonumber(maxAttempts), retryDelaySeconds = tonumber(retryDelaySeconds),
  maxRetryDelaySeconds = tonumber(maxRetryDelaySeconds), perKey = tonumber(perKey), recipientId = recipientId, failed =
    0, ackedRemoved = 0, name = name, createdAt = now, progressEvents = progressEvents == '1',
  attemptSeconds = tonumber(attemptSeconds) })
if attemptSeconds ~= '' then attemptLimit.count(1) end
if progressEvents == '1' then reports.count(1) end
sorted.add(keys.mailboxes(), '0', mailboxId)
names.add(name, mailboxId)
emit.mailbox.created(mailboxId, { mode = mode })
return call.answer({ id = mailboxId, createdAt = now, mailbox = false }, 'operation')
