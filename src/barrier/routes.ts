import { fields, id, integer, key, optional, queryInteger } from '../call/fields.ts';
import { randomTail } from '../call/random.ts';
import { readList } from '../call/read-list.ts';
import { type Route, read, route } from '../call/route.ts';
import { id as idField } from '../declare/field.ts';
import { one } from '../declare/record.ts';
import { Barrier, barrierStates } from './records.ts';

const reply = { barrier: one(Barrier) };

/** More rounds than a barrier ever has; a query takes no more digits. */
const maxEpoch = 999_999_999;

const create = route({
  method: 'POST',
  path: '/barriers',
  call: 'barrier.create',
  summary: 'Create a barrier that releases at its target of arrivals',
  description:
    'Everybody arrives with a key of their own and waits for it with `waitSeconds`. Opened again by nextEpoch, it ' +
    'is used for the next phase.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ scopeId: id(), target: integer(1, 100_000) }),
  success: { 201: Barrier.schema },
  refuses: ['SCOPE_CANCELLED', 'OPERATIONS_EXHAUSTED', 'ACTIVE_RUNS_LIMITED'],
  script: 'barrier/create',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  reply: { id: idField() },
  answer: ({ id }, { body }) => ({
    status: 201,
    body: Barrier.of({ ...body, id, state: 'OPEN', epoch: 1, arrivals: 0 }),
  }),
});

const list = readList({
  path: '/barriers',
  call: 'barrier.list',
  summary: 'List barriers, newest first; by state',
  description: 'Go on with `nextCursor` until it is null.',
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
    'With `waitSeconds` it answers once the barrier is not OPEN, or once `epoch`, where that is given, is ' +
    'released, cancelled or past; or as it then stands.',
  query: fields({
    epoch: queryInteger(1, maxEpoch).description(
      'the epoch to wait for, with waitSeconds; left out: the one that the barrier is in',
    ),
  }),
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND'],
  script: 'barrier/view',
  reply,
  wait: {
    on: 'barrierId',
    isOver: ({ barrier: { epoch, state } }, { query }, first) => {
      const awaited = query.epoch ?? first.barrier.epoch;
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
    'A repeated `arrivalKey` changes nothing and is answered as the first time, so arriving is safe to retry. ' +
    "`epoch` guards against arriving late: any other than the barrier's is refused (`EPOCH_MISMATCH`).",
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ arrivalKey: key(), epoch: optional(integer(1, maxEpoch)) }),
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
  description: 'The epoch counts on, and the arrivals begin at none.',
  permission: 'coordination_write',
  idempotency: 'optional',
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
  description: 'Nobody who waits for it gets through: they see CANCELLED. Cancelling again is fine.',
  permission: 'coordination_write',
  idempotency: 'optional',
  example: { state: 'CANCELLED' },
  success: { 200: Barrier.schema },
  refuses: ['BARRIER_NOT_FOUND', 'BARRIER_RELEASED', 'OPERATIONS_EXHAUSTED'],
  script: 'barrier/cancel',
  reply,
});

export const barrierRoutes: readonly Route[] = [create, list, view, arrive, nextEpoch, cancel];
