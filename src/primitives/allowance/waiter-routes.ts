import { one } from '../../engine/declare/record.ts';
import { randomTail } from '../../engine/route/args.ts';
import { actor, fields, integer, ofRun, optional } from '../../engine/route/fields.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { maxUnits, Waiter } from './records.ts';

const reply = { waiter: one(Waiter) };
const ttlSeconds = integer(5, 3600);

const wait = route({
  method: 'POST',
  path: '/allowances/:allowanceId/wait',
  call: 'allowance.wait',
  summary: 'Take units at once (GRANTED), or queue for them, first in, first out (WAITING)',
  description:
    'Follow the waiter with `waitSeconds` on its view. It is granted when it is at the head and its units fit: ' +
    'when a window begins, a cooldown ends, the waiter before it leaves, units are given back or the limit is raised. After `ttlSeconds` it is EXPIRED, unless it is ' +
    'renewed: with a short one, no units are granted to a process that has died.',
  title: 'Queue for a quota',
  tool: 'Take units at once (state GRANTED: go ahead) or join the queue for them (WAITING): then call waiter_view with waitSeconds until it is GRANTED. Your place ends after ttlSeconds; waiter_renew keeps it longer.',
  permission: 'resource_spend',
  idempotency: 'required',
  body: fields({
    scopeId: ofRun(),
    units: integer(1, maxUnits),
    holder: actor(),
    ttlSeconds: optional(ttlSeconds, 300).description('the longest time that it waits'),
  }),
  success: { 201: Waiter.schema },
  refuses: [
    'ALLOWANCE_NOT_FOUND',
    'UNITS_EXCEED_LIMIT',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'WAITERS_FULL',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'allowance/wait',
  args: ({ body }) => ({ ...body, holder: body.holder ?? '', tail: randomTail() }),
  reply,
});

const viewWaiter = read({
  path: '/allowance-waiters/:waiterId',
  call: 'waiter.view',
  summary: 'A waiter, with its position while it waits',
  description:
    'With `waitSeconds` it answers once the waiter is GRANTED, EXPIRED or CANCELLED, or when the time is up.',
  title: 'Wait in the queue for a quota',
  tool: 'See your place in the queue of an allowance. With waitSeconds it answers when you are GRANTED (the units are yours: go ahead), or EXPIRED or CANCELLED (queue again), or the time is over (still WAITING: call again).',
  success: { 200: Waiter.schema },
  refuses: ['WAITER_NOT_FOUND'],
  script: 'allowance/viewWaiter',
  asRecord: {},
  reply,
  wait: { on: 'waiterId', isOver: ({ waiter }) => waiter.state !== 'WAITING' },
});

const cancelWaiter = route({
  method: 'POST',
  path: '/allowance-waiters/:waiterId/cancel',
  call: 'waiter.cancel',
  summary: 'Leave the queue; repeating it is fine',
  description: 'The waiter behind it moves up. A granted or expired waiter is refused (`WAITER_NOT_WAITING`).',
  title: 'Leave the queue for a quota',
  tool: 'Stop waiting for a quota, so that those behind you move up. Repeating it is fine.',
  isDestructive: true,
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  example: { state: 'CANCELLED', position: null },
  success: { 200: Waiter.schema },
  refuses: ['WAITER_NOT_FOUND', 'WAITER_NOT_WAITING'],
  script: 'allowance/cancelWaiter',
  reply,
});

const renewWaiter = route({
  method: 'POST',
  path: '/allowance-waiters/:waiterId/renew',
  call: 'waiter.renew',
  summary: 'Wait longer, counted from now, and keep the place in line; may shorten the wait',
  description:
    'Renew about every third of `ttlSeconds`: then a waiter whose process has died soon expires, and the one behind it ' +
    'moves up. A waiter that is no longer WAITING is refused (`WAITER_NOT_WAITING`). A renewal is not an operation and emits no event.',
  title: 'Keep a place in the queue',
  tool: 'Go on waiting: ttlSeconds count from now, and your place stays. Call it about every third of ttlSeconds while waiter_view says WAITING.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    ttlSeconds: optional(ttlSeconds)
      .description('how long it waits from now on; by default the time that it was queued with')
      .meta({ model: 'left out: as before' }),
  }),
  example: { state: 'WAITING', grantedAt: null },
  success: { 200: Waiter.schema },
  refuses: ['WAITER_NOT_FOUND', 'WAITER_NOT_WAITING'],
  script: 'allowance/renewWaiter',
  args: ({ body }) => ({ ttlSeconds: body.ttlSeconds ?? '' }),
  reply,
});

export const waiterRoutes: readonly Route[] = [wait, viewWaiter, renewWaiter, cancelWaiter];
