import { one } from '../../engine/declare/record.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, flag, id, integer, leaseSeconds, leaseText, optional, text } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { Hold, holdStates } from './records.ts';

const reply = { hold: one(Hold) };
const token = () =>
  text(1, 256)
    .description('the token of the hold, from the answer to acquire')
    .meta({ model: 'from pool_acquire' })
    .example('q1Yw3T0dB8mLr5vXz7Nc2A');

const list = readList({
  path: '/pool-holds',
  call: 'hold.list',
  summary: 'List holds, newest first; by pool, run, holder and state',
  description:
    'Who holds a pool, and who waits for it: `poolId` with `state` `HELD,WAITING`. `scopeId` also finds those of scopes ' +
    'below it. A filtered page looks at no more than 1,000 holds, so it may be short although there are more.',
  script: 'pool/listHolds',
  plural: 'holds',
  record: Hold,
  states: holdStates,
  filters: {
    poolId: id().optional().description('only those of this pool'),
    scopeId: id().optional().description('only those of this scope and of the scopes below it'),
    holder: text(1, 256).optional().description('only those of exactly this holder'),
  },
});

const view = read({
  path: '/pool-holds/:holdId',
  call: 'hold.view',
  summary: 'A hold, with its position while it waits',
  description: 'With `waitSeconds` it answers once the hold is no longer WAITING, or when the time is up.',
  title: 'Wait in the queue of a pool',
  tool: 'See your place in the queue of a pool. With waitSeconds it answers when you are HELD (the units are yours: go ahead), or EXPIRED or CANCELLED (acquire again), or the time is over (still WAITING: call again).',
  success: { 200: Hold.schema },
  refuses: ['HOLD_NOT_FOUND'],
  script: 'pool/viewHold',
  asRecord: {},
  reply,
  wait: { on: 'holdId', isOver: ({ hold }) => hold.state !== 'WAITING' },
});

const renew = route({
  method: 'POST',
  path: '/pool-holds/:holdId/renew',
  call: 'hold.renew',
  summary: 'Extend the lease of a hold or, without its token, its wait; counted from now, so it may shorten them',
  description:
    'Renew about every third of the lease. After it has lapsed the units are others’, and the token is refused ' +
    '(`CLAIM_LOST`): stop at once. Without a token the hold waits longer and keeps its place in the queue: wait with a ' +
    'short `ttlSeconds` and renew about every third of it, and no units are granted to a process that has died. Such a ' +
    'renewal of a hold that is no longer WAITING is refused (`HOLD_NOT_WAITING`). A renewal is not an operation and emits ' +
    'no event.',
  title: 'Keep what you hold, or your place in the queue',
  tool: 'Keep units before leaseExpiresAt: send the token about every third of the lease. CLAIM_LOST: they are no longer yours, stop. While WAITING, leave token out to keep your place: ttlSeconds count from now.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    token: optional(token()).description(
      'the token of the hold, from the answer to acquire; left out for a hold that waits and is to wait on',
    ),
    leaseSeconds: leaseSeconds(
      "the length of the lease from now on, with the token; by default the hold's own leaseSeconds",
    ),
    ttlSeconds: optional(integer(5, 86_400))
      .description('how long it waits from now on, without a token; by default the time that it was queued with')
      .meta({ model: 'the wait from now on, without a token' })
      .example(null),
  }),
  success: { 200: Hold.schema },
  refuses: ['HOLD_NOT_FOUND', 'HOLD_NOT_WAITING', 'CLAIM_LOST', 'LEASE_LIMIT_EXCEEDED'],
  script: 'pool/renewHold',
  args: ({ body, isModel }) => {
    const { token, leaseSeconds, ttlSeconds } = body;
    if (token !== undefined && ttlSeconds !== undefined)
      throw invalid('ttlSeconds must be left out with a token: a HELD hold has a lease, which leaseSeconds sets');
    if (token === undefined && leaseSeconds !== undefined)
      throw invalid('leaseSeconds must be left out without a token: ttlSeconds sets how long a WAITING hold waits');
    return { token: token ?? '', leaseSeconds: leaseText({ body, isModel }), ttlSeconds: ttlSeconds ?? '' };
  },
  reply,
});

const isForcedBy = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (body as { force?: unknown }).force === true;

const release = route({
  method: 'POST',
  path: '/pool-holds/:holdId/release',
  call: 'hold.release',
  summary: 'Release a hold; repeating it with the same token is fine',
  description:
    'Waiting holds are granted in the same step. A key with resource_config may release a hold without its token, with ' +
    '`force` true. Its holder notices only at its next renewal, and acts as if it held the units until then.',
  title: 'Release what you hold',
  tool: 'Give units back as soon as you no longer need them. The same token again is fine. CLAIM_LOST: they were no longer yours.',
  isRepeatable: true,
  permission: 'coordination_write',
  permissionsFor: (body) => (isForcedBy(body) ? ['resource_config'] : undefined),
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    token: optional(token()),
    force: optional(flag())
      .description('whether to release it without its token, which needs resource_config')
      .meta({ model: 'for operators' })
      .example(null),
  }),
  example: { state: 'RELEASED', leaseExpiresAt: null, finishedAt: '2026-01-31T12:00:30.000Z' },
  toolAnswer: true,
  success: { 200: Hold.schema },
  refuses: ['HOLD_NOT_FOUND', 'CLAIM_LOST'],
  script: 'pool/releaseHold',
  args: ({ body: { token, force } }) => {
    if (force === true && token !== undefined) throw invalid('token must be left out with force true');
    if (force !== true && token === undefined) throw invalid("token is missing: send the hold's token, or force true");
    return { token: token ?? '', isForced: force === true ? '1' : '' };
  },
  reply,
});

const cancel = route({
  method: 'POST',
  path: '/pool-holds/:holdId/cancel',
  call: 'hold.cancel',
  summary: 'Leave the queue; repeating it is fine',
  description: 'Holds behind it move up. A hold that is HELD or finished is refused (`HOLD_NOT_WAITING`).',
  title: 'Leave the queue of a pool',
  tool: 'Stop waiting for a pool. Repeating it is fine. HOLD_NOT_WAITING with HELD: the units are yours already, release them.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  example: {
    state: 'CANCELLED',
    fence: null,
    heldAt: null,
    leaseExpiresAt: null,
    finishedAt: '2026-01-31T12:00:30.000Z',
  },
  success: { 200: Hold.schema },
  refuses: ['HOLD_NOT_FOUND', 'HOLD_NOT_WAITING'],
  script: 'pool/cancelHold',
  reply,
});

/** The calls of a holder. */
export const holdRoutes: readonly Route[] = [list, view, renew, release, cancel];
