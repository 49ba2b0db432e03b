--- Gives back claims whose callers disconnected before their answers were written, each like a nack with retry that
--- does not count the attempt. Passes over a claim that has ended. items: message ids and tokens, in turn.
--- @request worker
--- @args items
--- @reply
--- @include lib/call lib/clock lib/records mailbox/_claim mailbox/_message mailbox/_return scope/_scope
for messageId, token in string.gmatch(items, '(%S+) (%S+)') do
  local record = message.stored(messageId, 'mailboxId', 'scopeId', 'taskId', 'groupId', 'state', 'attempts', 'deadline',
    'token', 'leaseExpiresAt', 'place')
  if record and record.token == token and record.state == 'CLAIMED' and record.leaseExpiresAt > now
    and not scope.cancelFor(record) then
    attempts.keep(record, now, 'UNTRIED')
    records.set(record, 'attempts', record.attempts - 1)
    message.release(record, now, 0)
  end
end
return call.answer()
