import { fields, id, integer, key, optional } from '../http/fields.ts';
import { randomTail } from '../http/random.ts';
import { readList } from '../http/read-list.ts';
import { type Input, param, type Route, read, route } from '../http/route.ts';
import type { Reply } from '../redis/reply.ts';
import { barrierRecord } from './records.ts';
import { barrierReply, barrierStates } from './schemas.ts';

const answer = (values: Reply, input: Input) => ({
  status: 200,
  body: barrierRecord(param(input, 'barrierId'), values),
});

const create = route<unknown, { scopeId: string; target: number }>({
  method: 'POST',
  path: '/barriers',
  call: 'barrier.create',
  summary: 'Create a barrier that releases at its target of arrivals',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ scopeId: id(), target: integer(1, 100_000) }),
  success: { 201: barrierReply },
  refuses: ['OPERATIONS_EXHAUSTED', 'ACTIVE_RUNS_LIMITED'],
  script: 'barrier/create',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  answer: ([barrierId], { body }) => ({
    status: 201,
    body: barrierRecord(barrierId, [body.scopeId, 'OPEN', 1, 0, body.target, null]),
  }),
});

const list = readList({
  path: '/barriers',
  call: 'barrier.list',
  summary: 'List barriers, newest first; by state',
  script: 'barrier/list',
  plural: 'barriers',
  states: barrierStates,
  reply: barrierReply,
  record: (row) => barrierRecord(row[6], row),
});

const view = read({
  path: '/barriers/:barrierId',
  call: 'barrier.view',
  summary: 'A barrier: its epoch, arrivals and state',
  success: { 200: barrierReply },
  refuses: ['BARRIER_NOT_FOUND'],
  script: 'barrier/view',
  answer,
});

const arrive = route<unknown, { arrivalKey: string; epoch?: number }>({
  method: 'POST',
  path: '/barriers/:barrierId/arrive',
  call: 'barrier.arrive',
  summary: 'Arrive, once per arrivalKey and epoch; the arrival that reaches the target releases',
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ arrivalKey: key(), epoch: optional(integer(1, Number.MAX_SAFE_INTEGER)) }),
  success: { 200: barrierReply },
  refuses: ['BARRIER_NOT_FOUND', 'EPOCH_MISMATCH', 'BARRIER_RELEASED', 'BARRIER_CANCELLED'],
  script: 'barrier/arrive',
  args: ({ body }) => ({ arrivalKey: body.arrivalKey, epoch: body.epoch ?? '' }),
  answer,
});

const nextEpoch = route({
  method: 'POST',
  path: '/barriers/:barrierId/nextEpoch',
  call: 'barrier.nextEpoch',
  summary: 'Open a RELEASED or CANCELLED barrier again, in the next epoch',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: barrierReply },
  refuses: ['BARRIER_NOT_FOUND', 'BARRIER_NOT_RELEASED', 'OPERATIONS_EXHAUSTED'],
  script: 'barrier/nextEpoch',
  answer,
});

const cancel = route({
  method: 'POST',
  path: '/barriers/:barrierId/cancel',
  call: 'barrier.cancel',
  summary: 'Cancel an OPEN barrier',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: barrierReply },
  refuses: ['BARRIER_NOT_FOUND', 'BARRIER_RELEASED', 'OPERATIONS_EXHAUSTED'],
  script: 'barrier/cancel',
  answer,
});

export const barrierRoutes: readonly Route[] = [create, list, view, arrive, nextEpoch, cancel];
