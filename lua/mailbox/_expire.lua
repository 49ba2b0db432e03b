--- @include lib/clock lib/date lib/hooks lib/lease lib/records lib/unit mailbox/_attemptLimit mailbox/_claim
--- @include mailbox/_delay mailbox/_end mailbox/_errors
--- @include lib/sorted lib/timer mailbox/_mailbox mailbox/_message mailbox/_paused mailbox/_return scope/_scope
--- A message has reached its deadline, or its lease has ended.
due['mailbox:message'] = function(messageId, at)
  local record = message.readForRetry(messageId)
  if not record or not message.isLive(record) then return end
  local cancel = scope.cancelFor(record)
  if cancel then
    message.stop(record, cancel)
    return
  end
  if record.deadline and record.deadline <= at then
    message.finish(record, 'EXPIRED', at, emit.message.expired, 'DEADLINE_EXCEEDED')
    return
  end
  attempts.keep(record, at, 'LEASE_EXPIRED')
  local ended = (attemptLimit.endOf(record) <= at and "the attempt's time" or 'the lease') .. ' ended'
  message.keep(record, 'lastError', ended .. ' at ' .. isoOf(at) .. ' (holder ' .. record.holder .. ')')
  failures.count(record.mailboxId, at, ended)
  message.needTrace(record)
  emit.message.lease_expired(messageId, record)
  message.retry(record, at)
end

--- The first DELAYED messages of a mailbox become READY. Each counts as two changes, as it takes about twice as long.
due['mailbox:delays'] = function(mailboxId, _, limit)
  local box = mailbox.read(mailboxId)
  return box and 2 * delay.ripen(box, math.ceil(limit / 2))
end

--- The rank of the first head behind this one in the order of heads, by score and id. The head itself may have gone.
local function rankBehind(heads, score, rootId)
  local low, high = 0, redis.call('ZCARD', heads)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call('ZRANGE', heads, middle, middle, 'WITHSCORES')
    local at = tonumber(found[2])
    if at < score or at == score and found[1] <= rootId then low = middle + 1 else high = middle end
  end
  return low
end

--- A receive has asked for messages of all runs for the first time. The runs take turns in the order of their oldest
--- messages. A step copies some heads, in their order; what receives and sends change meanwhile, they change in both
--- sets. So a head is behind those that are copied, or is copied already.
due['mailbox:turns'] = function(mailboxId, _, limit)
  local box = mailbox.load(mailboxId, 'turn', 'turnsThrough')
  if not box or box.turn and box.turn > 0 then return end
  if not box.turn then records.set(box, 'turn', -now) end
  local heads, size, from = keys.heads(mailboxId), 20 * limit, 0
  if box.turnsThrough then
    local score, rootId = string.match(box.turnsThrough, '^(%S+) (%S+)$')
    from = rankBehind(heads, tonumber(score), rootId)
  end
  local found, pairs = redis.call('ZRANGE', heads, from, from + size - 1, 'WITHSCORES'), {}
  for i = 1, #found, 2 do pairs[i], pairs[i + 1] = found[i + 1], found[i] end
  if pairs[1] then unit.command('ZADD', keys.turns(mailboxId), 'NX', unpack(pairs)) end
  if #found < 2 * size then
    records.set(box, 'turn', -box.turn)
    records.set(box, 'turnsThrough', false)
    return 1
  end
  records.set(box, 'turnsThrough', found[#found] .. ' ' .. found[#found - 1])
  timer.armInBackground('mailbox:turns', mailboxId, now)
  return limit
end

--- The earliest lease of the space ends, unless its claim ended before.
due['mailbox:lease'] = function(_, at)
  local messageId, endedAt = lease.takeDue(keys.claims(), at)
  if messageId then due['mailbox:message'](messageId, endedAt) end
  lease.rearm('mailbox:lease', keys.claims())
end
