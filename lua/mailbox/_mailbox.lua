--- @record mailbox
--- @space withheld
--- @include lib/count lib/invocation lib/records lib/space

--- Whether the space has any BLOCKED message. `withheld` counts these and what is paused: it is one field, because each costs every
--- request a search of a small hash.
function mailbox.anyBlocked()
  local record = keyspace.record
  if record and record.withheld == 0 and not invocation.hasWithheld then return false end
  return count.read('messages:BLOCKED') > 0
end

--- Messages that are not finished, against which backlogLimit stands.
function mailbox.backlog(box)
  local unfinished = box.ready + box.delayed + box.claimed
  return mailbox.anyBlocked() and unfinished + mailbox.load(box.id, 'blocked').blocked or unfinished
end

function mailbox.isEmpty(box)
  return box.ready + box.delayed + box.claimed == 0 and mailbox.backlog(box) == 0
end

--- The pause before the attempt after the nth.
function mailbox.pauseSeconds(mailboxId, attempts)
  local box = mailbox.load(mailboxId, 'retryDelaySeconds', 'maxRetryDelaySeconds')
  local first = box.retryDelaySeconds
  if first == 0 then return 0 end
  return math.min(box.maxRetryDelaySeconds, first * 2 ^ (attempts - 1))
end

--- What sends and receives need of it; nil when there is no such mailbox.
function mailbox.read(mailboxId)
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'delayed', 'nextReadyAt', 'maxAttempts', 'turn',
    'figuresMinute')
end

--- So many messages are no longer among its own, though they were sent: they were removed or packed.
function mailbox.letGo(mailboxId, messages)
  if mailbox.load(mailboxId, 'mode') then records.add(keys.mailbox(mailboxId), 'goneTotal', messages) end
end
