--- Acknowledges a claimed message, records its result and publishes it, atomically. Backlog and plan limits do not
--- apply, so that finished work is not lost. The same token again changes nothing, and another result is refused then.
--- result '': none. resultMailboxId '': the result is recorded but not published; a result for a cancelled run is not
--- published either. traceparent, tracestate: the W3C Trace Context of the result; '' if absent.
--- @request write
--- @space maxPayloadBytes messages:CLAIMED messages:ACKED
--- @args messageId token tail
--- @rare resultMailboxId resultScopeId resultWorkKey traceparent tracestate
--- @long result
--- @reply taskId resultMessageId groupId groupState known
--- @gather
--- @include lib/call lib/clock lib/count lib/id lib/maps lib/records lib/refuse lib/space mailbox/_claim mailbox/_end
--- @include mailbox/_mailbox mailbox/_message mailbox/_send scope/_scope
local record = message.read(messageId)
if record and record.state == 'ACKED' and record.token == token then
  message.load(messageId, 'resultMessageId', 'groupState', 'result', 'finishedAt')
  if result ~= '' and result ~= record.result then refuse('RESULT_CONFLICT', string.format('%d', record.finishedAt)) end
  -- If its task joined a group later, the first answer had no group.
  return call.answer({ taskId = record.taskId, resultMessageId = record.resultMessageId,
    groupId = record.groupState and record.groupId, groupState = record.groupState, known = 1 }, 'syscall')
end
checkClaim(record, token)
local published
if resultMailboxId ~= '' then
  published = mailbox.read(resultMailboxId)
  if not published then refuse('MAILBOX_NOT_FOUND', 'result.mailboxId') end
end
local maxPayloadBytes = keyspace.record.maxPayloadBytes
if #result > maxPayloadBytes then refuse('PAYLOAD_TOO_LARGE', 'result.payload ' .. maxPayloadBytes) end

message.finish(record, 'ACKED', now, emit.message.acked)
local resultMessageId = false
if published then
  resultMessageId = resultWorkKey ~= '' and maps.get(keys.workKeys(resultMailboxId), resultWorkKey)
  local path = scope.path(resultScopeId)
  if not resultMessageId and not (path and scope.cancelOf(path)) then
    resultMessageId = newId(tail)
    message.create({ id = resultMessageId, mailboxId = resultMailboxId, scopeId = resultScopeId, state = false,
      payload = result, taskId = published.mode == 'WORK' and resultMessageId, workKey = resultWorkKey ~= ''
      and resultWorkKey }, path, published, message.traced(traceparent, tracestate))
  end
  records.set(record, 'resultMessageId', resultMessageId)
end
if result ~= '' then
  records.set(record, 'result', result)
  count.space('retainedBytes', #result)
end
return call.answer({ taskId = record.taskId, resultMessageId = resultMessageId, groupId = record.groupId,
  groupState = record.groupState }, 'operation')
