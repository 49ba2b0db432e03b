--- @include lib/inRun mailbox/_message mailbox/_packed mailbox/_shown
inRun.messages = { ahead = packed.ahead }

function inRun.messages.index(scopeId)
  return keys.scopeMessages(scopeId)
end

--- A message, or the tombstone of its task; nil if it is damaged.
function inRun.messages.row(id)
  if packed.damaged(id) then return nil end
  local record = message.load(id, 'scopeId', 'mailboxId', 'tombstoneOf', 'taskId', 'groupId', 'taskKey', 'state', 'reason',
    'attempts', 'workKey', 'deadline', 'holder', 'holderSession', 'claimedAt', 'leaseExpiresAt', 'finishedAt', 'maxAttempts', 'lastError', 'readyAt',
    'priority', 'key', 'prerequisites', 'required', 'blockedOn', 'held', 'used', 'traceparent', 'tracestate')
  record.mailboxId = record.mailboxId or record.tombstoneOf
  return rows.messageSummary(message.shown(record))
end
