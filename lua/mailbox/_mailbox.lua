--- @record mailbox

--- Messages that are not finished, against which backlogLimit stands.
function mailbox.backlog(box)
  return box.ready + box.delayed + box.blocked + box.claimed
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
  return mailbox.load(mailboxId, 'mode', 'recipientId', 'backlogLimit', 'ready', 'claimed', 'delayed', 'blocked', 'nextReadyAt', 'maxAttempts',
    'turn')
end
