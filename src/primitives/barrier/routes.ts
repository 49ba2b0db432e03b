import { raws } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { randomTail } from '../../engine/route/args.ts';
import { fields, integer, key, ofRun, optional, queryInteger } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { Barrier, barrierStates } from './records.ts';

const reply = { barrier: one(Barrier) };

/** More epochs than any barrier reaches. */
const maxEpoch = 999_999_999;

const create = route({
  method: 'POST',
  path: '/barriers',
  call: 'barrier.create',
  summary: 'Create a barrier that releases at its target of arrivals',
  description:
    'Each party arrives with its own key and waits for the release with `waitSeconds`. Opened again by nextEpoch, it ' +
    'is used for the next phase.',
  title: 'Create a barrier',
  tool: 'Make a point where `target` agents meet: pass its id on to all of them. Each calls barrier_arrive, then barrier_view.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ scopeId: ofRun(), target: integer(1, 100_000) }),
  success: { 201: Barrier.schema },
  refuses: ['SCOPE_CANCELLED', 'OPERATIONS_EXHAUSTED', 'ACTIVE_RUNS_LIMITED'],
  script: 'barrier/create',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  reply: raws('id'),
  makes: Barrier,
  given: ({ body }) => ({ ...body, state: 'OPEN', epoch: 1, arrivals: 0 }),
});

const list = readList({
  path: '/barriers',
  call: 'barrier.list',
  summary: 'List barriers, newest first; by state',
  description: 'Continue with `nextCursor` until it is null.',
  script: 'barrier/list',
  plural: 'barriers',
  states: barrierStates,
  record: Barrier,
});

const view = read({
  path: '/barriers/:barrierId',
  call: 'barrier.view',
  summary: 'A barrier: its epoch, arrivals and state',
  description:
    'With `waitSeconds` it answers once the barrier is not OPEN or, if `epoch` is given, once that epoch is ' +
    'released, cancelled or past; or when the time is up.',
  title: 'Wait at a barrier',
  tool: 'See how many have arrived. With waitSeconds it answers when the barrier is RELEASED (go on), CANCELLED (stop), or the time is over (still OPEN: call again). Pass the `epoch` at which you arrived.',
  query: fields({
    epoch: queryInteger(1, maxEpoch)
      .description('the epoch to wait for, with waitSeconds; by default the current one')
      .meta({ model: 'the epoch at which you arrived' }),
  }),
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND'],
  script: 'barrier/view',
  asRecord: {},
  reply,
  wait: {
    on: 'barrierId',
    isOver: ({ barrier: { epoch, state } }, { query }, first) => {
      const awaited = query.epoch ?? first?.barrier.epoch ?? epoch;
      return epoch > awaited || (epoch === awaited && state !== 'OPEN');
    },
  },
});

const arrive = route({
  method: 'POST',
  path: '/barriers/:barrierId/arrive',
  call: 'barrier.arrive',
  summary: 'Arrive, once per arrivalKey and epoch; the arrival that reaches the target releases',
  description:
    'A repeated `arrivalKey` changes nothing and is answered with the barrier as it stands, so arriving is safe to retry. ' +
    "`epoch` guards against arriving late: any other than the barrier's is refused (`EPOCH_MISMATCH`).",
  title: 'Arrive at a barrier',
  tool: 'Say that you have reached a point where all agents meet. Use an arrivalKey of your own (your name, say): it counts once in each epoch. If the answer’s state is OPEN, wait for the others with barrier_view.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    arrivalKey: key()
      .description('the name of the party that arrives; the same key counts once in an epoch')
      .meta({ model: 'your name at this barrier: counted once in each epoch' })
      .example('reviewer-1'),
    epoch: optional(integer(1, maxEpoch))
      .description('the epoch to arrive in; any other than the current one is refused')
      .meta({ model: 'refused if it is not the current one' }),
  }),
  example: { arrivals: 1 },
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND', 'EPOCH_MISMATCH', 'BARRIER_RELEASED', 'BARRIER_CANCELLED'],
  script: 'barrier/arrive',
  args: ({ body }) => ({ arrivalKey: body.arrivalKey, epoch: body.epoch ?? '' }),
  reply,
});

const nextEpoch = route({
  method: 'POST',
  path: '/barriers/:barrierId/nextEpoch',
  call: 'barrier.nextEpoch',
  summary: 'Open a RELEASED or CANCELLED barrier again, in the next epoch',
  description: 'The epoch increases by one, and there are no arrivals yet.',
  permission: 'coordination_write',
  idempotency: 'optional',
  example: { epoch: 2 },
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND', 'SCOPE_CANCELLED', 'BARRIER_NOT_RELEASED', 'OPERATIONS_EXHAUSTED'],
  script: 'barrier/nextEpoch',
  reply,
});

const cancel = route({
  method: 'POST',
  path: '/barriers/:barrierId/cancel',
  call: 'barrier.cancel',
  summary: 'Cancel an OPEN barrier',
  description: 'Those who wait for it see CANCELLED. Repeating the cancel is fine.',
  permission: 'coordination_write',
  idempotency: 'optional',
  example: { state: 'CANCELLED' },
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND', 'BARRIER_RELEASED', 'OPERATIONS_EXHAUSTED'],
  script: 'barrier/cancel',
  reply,
});

export const barrierRoutes: readonly Route[] = [create, list, view, arrive, nextEpoch, cancel];
