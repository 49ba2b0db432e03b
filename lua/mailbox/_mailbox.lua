--- @record mailbox
--- @space withheld
--- @include lib/count lib/invocation lib/records lib/space

--- Whether the space has any BLOCKED message. `withheld` counts BLOCKED messages and pauses together, because each
--- field read costs every request a search in a small hash.
function mailbox.anyBlocked()
  local record = keyspace.record
  if record and record.withheld == 0 and not invocation.hasWithheld then return false end
  return count.read('messages:BLOCKED') > 0
end

--- The number of unfinished messages, which backlogLimit limits.
function mailbox.backlog(box)
  local unfinished = box.ready + box.delayed + box.claimed
  return mailbox.anyBlocked() and unfinished + mailbox.load(box.id, 'blocked').blocked or unfinished
end

function mailbox.isEmpty(box)
  return box.ready + box.delayed + box.claimed == 0 and mailbox.backlog(box) == 0
end

--- The pause after the given number of attempts. own: of a message that may have pauses of its own, its record with
--- `retryDelaySeconds` and `maxRetryDelaySeconds`, each false if the mailbox's holds; else nil.
function mailbox.pauseSeconds(mailboxId, attempts, own)
  local box = mailbox.load(mailboxId, 'retryDelaySeconds', 'maxRetryDelaySeconds')
  local first, longest = box.retryDelaySeconds, box.maxRetryDelaySeconds
  if own then
    first = own.retryDelaySeconds or first
    longest = own.maxRetryDelaySeconds or math.max(longest, own.retryDelaySeconds or 0)
  end
  if first == 0 then return 0 end
  return math.min(longest, first * 2 ^ (attempts - 1))
end

--- The fields that sends and receives need; nil if there is no such mailbox.
function mailbox.read(mailboxId)
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'delayed', 'nextReadyAt',
    'maxAttempts', 'turn', 'figuresMinute')
end

--- Counts messages that were removed or packed, as the mailbox no longer lists them.
function mailbox.letGo(mailboxId, messages)
  if mailbox.load(mailboxId, 'mode') then records.add(keys.mailbox(mailboxId), 'goneTotal', messages) end
end
