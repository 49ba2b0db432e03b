// The writes of each measured call, by the name of its step. As in Muster, one script runs gathered calls, here with as
// few commands as possible: the members that several calls of a space add to one key are added together. Nothing is
// read or checked, so nobody could receive, replay or bill the records that these scripts leave.

/** The arguments of one call, in this order. */
export const FIELDS = ['id', 'key', 'payload', 'space', 'record', 'scope', 'number', 'moment', 'earlier'] as const;

interface Writes {
  readonly operation: string;
  /**
   * For one call: its own writes, and (with `add`) the members that it adds to a key of its space, together with other
   * calls.
   */
  readonly each: string;
  /** For all calls of a space together. */
  readonly together: string;
}

/** An event of one call: its type, and its additional members. */
const journal = (type: string, members: string): string =>
  `call('XADD', at .. ':events', '*', '${type}', record .. ' ' .. scope .. ' ' .. id .. ' ' .. ${members})`;

const WRITES_OF: Record<string, Writes> = {
  send: {
    operation: 'message.send',
    each: `
      call('HSET', at .. ':message:' .. id, 'state', 'READY', 'mailboxId', record, 'scopeId', scope, 'payload', payload)
      add('ready', moment, id)
      add('all', '0', id)
      add('ofScope', '0', id)
      add('replays', key, id .. moment)
      ${journal('message.sent', `'"mailboxId":"' .. record .. '","state":"READY"'`)}`,
    together: `
      put('ZADD', at .. ':mailbox:' .. record .. ':ready:' .. scope, 'ready')
      put('ZADD', at .. ':mailbox:' .. record .. ':messages', 'all')
      put('ZADD', at .. ':scope:' .. scope .. ':messages', 'ofScope')
      put('HSET', at .. ':idempotency', 'replays')
      call('HSET', at .. ':mailbox:' .. record, 'ready', number)
      call('HSET', at .. ':scope:' .. scope, 'live', number)
      call('HSET', at, 'messages:READY', number, 'retainedBytes', number)`,
  },
  reserve: {
    operation: 'budget.reserve',
    each: `
      call('HSET', at .. ':reservation:' .. id, 'budgetId', record, 'scopeId', scope, 'holder', 'bench', 'state', 'ACTIVE', 'remainingMinor', '125')
      add('active', '0', id)
      add('replays', key, id .. moment)
      ${journal('budget.reserved', `'"reservationId":"' .. id .. '","state":"ACTIVE","amountMinor":"125"'`)}`,
    together: `
      put('ZADD', at .. ':budget:' .. record .. ':reservations:ACTIVE', 'active')
      put('ZADD', at .. ':scope:' .. scope .. ':reservations', 'active')
      put('HSET', at .. ':idempotency', 'replays')
      call('HSET', at .. ':budget:' .. record, 'reserved', number, 'available', number)
      call('HSET', at, 'reservations:ACTIVE', number)`,
  },
  settle: {
    operation: 'budget.settle',
    each: `
      call('HSET', at .. ':reservation:' .. earlier, 'remainingMinor', '0', 'settledMinor', '125', 'firstEntry', 'SETTLE ' .. key, 'state', 'SETTLED', 'closedAt', moment)
      add('active', earlier)
      add('settled', '0', earlier)
      add('closed', moment, 'budget:reservation:' .. at .. ':' .. earlier)
      add('workKeys', key, id .. ' ' .. earlier .. ' 125')
      ${journal('budget.settled', `'"reservationId":"' .. earlier .. '","entryId":"' .. id .. '","state":"SETTLED","amountMinor":"125"'`)}`,
    together: `
      put('ZREM', at .. ':budget:' .. record .. ':reservations:ACTIVE', 'active')
      put('ZADD', at .. ':budget:' .. record .. ':reservations:SETTLED', 'settled')
      put('ZADD', root .. ':closed', 'closed')
      put('HSET', at .. ':budget:' .. record .. ':workKeys:SETTLE', 'workKeys')
      call('HSET', at .. ':budget:' .. record, 'reserved', number, 'settled', number)
      call('HSET', at, 'reservations:ACTIVE', number, 'reservations:SETTLED', number)`,
  },
  arrive: {
    operation: 'barrier.arrive',
    each: `
      add('keys', key)
      ${journal('barrier.arrived', `'"state":"OPEN","epoch":1,"arrivals":' .. number .. ',"target":100000'`)}`,
    together: `
      put('SADD', at .. ':barrier:' .. record .. ':arrivalKeys', 'keys')
      call('HSET', at .. ':barrier:' .. record, 'arrivals', number)`,
  },
  consume: {
    operation: 'allowance.consume',
    each: `
      add('finished', moment, 'allowance:consumption:' .. at .. ':' .. id .. ' ' .. record .. ' ' .. scope .. ' 1')
      add('replays', key, id .. moment)
      ${journal('allowance.consumed', `'"consumptionId":"' .. id .. '","units":1,"availableUnits":' .. number`)}`,
    together: `
      put('ZADD', root .. ':finished', 'finished')
      put('HSET', at .. ':idempotency', 'replays')
      call('HSET', at .. ':scope:' .. scope, 'consumptions', number, 'consumedUnits', number)
      call('HSET', at .. ':allowance:' .. record, 'usedUnits', number)`,
  },
};

const script = ({ operation, each, together }: Writes): string => `
local root, call = KEYS[1], redis.call
local replies, spaces, inOrder = {}, {}, {}
local own, last
local function add(list, one, two)
  local values = own[list]
  if not values then
    values = {}
    own[list] = values
  end
  values[#values + 1] = one
  values[#values + 1] = two
end
local function put(command, key, list) call(command, key, unpack(own[list])) end
for first = 1, #ARGV, ${FIELDS.length} do
  local ${FIELDS.join(', ')} = unpack(ARGV, first, first + ${FIELDS.length - 1})
  local at = root .. ':' .. space
  own = spaces[space]
  if not own then
    own = { at = at, record = record, scope = scope }
    spaces[space] = own
    inOrder[#inOrder + 1] = own
  end
  own.number, last = number, number
  ${each}
  replies[#replies + 1] = { id }
end
for _, each in ipairs(inOrder) do
  own = each
  local at, record, scope, number = own.at, own.record, own.scope, own.number
  ${together}
  call('HSET', at, 'usedRequests', number, 'op:${operation}', number)
  call('SPUBLISH', at .. ':events', record)
end
call('HSET', root, 'usedOperations', last)
return replies`;

/** Script texts by step. */
export const WRITES: Record<string, string> = Object.fromEntries(
  Object.entries(WRITES_OF).map(([step, writes]) => [step, script(writes)]),
);
