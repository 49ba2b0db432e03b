--- Acknowledges a claimed message, records its result and publishes it, all or nothing. Fullness never refuses a
--- result: finished work is not lost. `result` '' means none; resultMailboxId '' means recorded, not published.
--- @args messageId token result resultMailboxId resultScopeId resultWorkKey tail
--- @include "lib/call"
--- @include "lib/id"
--- @include "mailbox/_claim"
--- @include "mailbox/_finish"
--- @include "mailbox/_create"
local replay, maxPayloadBytes = call.open('maxPayloadBytes')
if replay then return replay end
local done = redis.call('HMGET', keys.message(messageId), 'state', 'token', 'taskId', 'resultMessageId', 'groupId', 'groupState')
if done[1] == 'ACKED' and done[2] == token then return call.uncounted(done[3], done[4], done[5], done[6], 1) end
local record = claimOf(messageId, token)
local mode = resultMailboxId ~= '' and redis.call('HGET', keys.mailbox(resultMailboxId), 'mode')
if resultMailboxId ~= '' and not mode then refuse('MAILBOX_NOT_FOUND', 'result.mailboxId') end
if #result > tonumber(maxPayloadBytes) then refuse('PAYLOAD_TOO_LARGE', 'result.payload ' .. maxPayloadBytes) end

message.finish(record, 'ACKED', now, 'acked')
local resultMessageId = false
if mode then
  resultMessageId = resultWorkKey ~= '' and redis.call('HGET', keys.workKeys(resultMailboxId), resultWorkKey)
  if not resultMessageId then
    resultMessageId = newId(tail)
    message.create({ id = resultMessageId, mailboxId = resultMailboxId, scopeId = resultScopeId, attempts = 0, payload = result,
      taskId = mode == 'WORK' and resultMessageId or nil, workKey = resultWorkKey ~= '' and resultWorkKey or nil },
      scope.path(resultScopeId))
  end
  redis.call('HSET', keys.message(messageId), 'resultMessageId', resultMessageId)
end
if result ~= '' then
  redis.call('HSET', keys.message(messageId), 'result', result)
  count.add(count.space, 'retainedBytes', #result)
end
return call.done(record.taskId, resultMessageId, record.groupId, false, 0)
