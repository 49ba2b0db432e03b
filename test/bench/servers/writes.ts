// What each measured call writes, by the name of its step: the same commands on keys of the same length, one after the
// other. Nothing is read or checked, so nobody could receive, replay or bill what these scripts leave.

const HEAD = `
local root, id, key, payload = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local space, record, scope, number = root .. ':' .. ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local moment, earlier, ofScope = ARGV[8], ARGV[9], space .. ':scope:' .. ARGV[6]
local function counted(operation, ...)
  redis.call('HSET', space, 'usedRequests', number, 'op:' .. operation, number, ...)
  redis.call('HSET', root, 'usedOperations', number)
end
local function journal(type, members)
  redis.call('XADD', space .. ':events', '*', type, record .. ' ' .. scope .. ' ' .. id .. ' ' .. members)
  redis.call('SPUBLISH', space .. ':events', record)
end
local function replayable() redis.call('HSET', space .. ':idempotency', key, id .. moment) end
`;

const SEND = `
local box = space .. ':mailbox:' .. record
redis.call('HSET', space .. ':message:' .. id, 'state', 'READY', 'mailboxId', record, 'scopeId', scope, 'sequence', number, 'payload', payload)
redis.call('ZADD', box .. ':ready:' .. scope, moment, number .. id)
redis.call('ZADD', box .. ':messages', number, id)
redis.call('ZADD', ofScope .. ':messages', '0', id)
redis.call('HSET', box, 'ready', number, 'sequence', number)
redis.call('HSET', ofScope, 'live', number)
counted('message.send', 'messages:READY', number, 'retainedBytes', number)
redis.call('HSET', root, 'usedTasks', number)
replayable()
journal('message.sent', '"mailboxId":"' .. record .. '","state":"READY"')
return id`;

const RESERVE = `
local budget = space .. ':budget:' .. record
redis.call('HSET', space .. ':reservation:' .. id, 'budgetId', record, 'scopeId', scope, 'holder', 'bench', 'state', 'ACTIVE', 'remainingMinor', '125')
redis.call('ZADD', budget .. ':reservations:ACTIVE', '0', id)
redis.call('ZADD', ofScope .. ':reservations', '0', id)
redis.call('HSET', budget, 'reserved', number, 'available', number)
counted('budget.reserve', 'reservations:ACTIVE', number)
replayable()
journal('budget.reserved', '"reservationId":"' .. id .. '","state":"ACTIVE","amountMinor":"125"')
return id`;

const SETTLE = `
local budget = space .. ':budget:' .. record
redis.call('ZREM', budget .. ':reservations:ACTIVE', earlier)
redis.call('ZADD', budget .. ':reservations:SETTLED', '0', earlier)
redis.call('ZADD', root .. ':closed', moment, 'budget:reservation:' .. space .. ':' .. earlier)
redis.call('HSET', space .. ':reservation:' .. earlier, 'remainingMinor', '0', 'settledMinor', '125', 'firstEntry', 'SETTLE ' .. key, 'state', 'SETTLED', 'closedAt', moment)
redis.call('HSET', budget .. ':workKeys:SETTLE', key, id .. ' ' .. earlier .. ' 125')
redis.call('HSET', budget, 'reserved', number, 'settled', number)
counted('budget.settle', 'reservations:ACTIVE', number, 'reservations:SETTLED', number)
journal('budget.settled', '"reservationId":"' .. earlier .. '","entryId":"' .. id .. '","state":"SETTLED","amountMinor":"125"')
return id`;

const ARRIVE = `
local barrier = space .. ':barrier:' .. record
redis.call('SADD', barrier .. ':arrivalKeys', key)
redis.call('HSET', barrier, 'arrivals', number)
counted('barrier.arrive')
journal('barrier.arrived', '"state":"OPEN","epoch":1,"arrivals":' .. number .. ',"target":100000')
return id`;

const CONSUME = `
redis.call('ZADD', root .. ':finished', moment, 'allowance:consumption:' .. space .. ':' .. id .. ' ' .. record .. ' ' .. scope .. ' 1')
redis.call('HSET', ofScope, 'consumptions', number, 'consumedUnits', number)
redis.call('HSET', space .. ':allowance:' .. record, 'usedUnits', number)
counted('allowance.consume')
replayable()
journal('allowance.consumed', '"consumptionId":"' .. id .. '","units":1,"availableUnits":' .. number)
return id`;

/** Script texts by step. */
export const WRITES: Record<string, string> = Object.fromEntries(
  Object.entries({ send: SEND, reserve: RESERVE, settle: SETTLE, arrive: ARRIVE, consume: CONSUME }).map(
    ([step, text]) => [step, HEAD + text],
  ),
);
