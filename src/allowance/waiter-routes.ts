import { fields, id, integer, optional, text } from '../http/fields.ts';
import { read, route } from '../http/legacy.ts';
import { randomTail } from '../http/random.ts';
import { param, type Route } from '../http/route.ts';
import { waiterRecord } from './records.ts';
import { mostUnits, waiterReply } from './schemas.ts';

interface WaitBody {
  scopeId: string;
  units: number;
  holder: string;
  ttlSeconds: number;
}

const wait = route<unknown, WaitBody>({
  method: 'POST',
  path: '/allowances/:allowanceId/wait',
  call: 'allowance.wait',
  summary: 'Take units at once (GRANTED), or queue for them, first in, first out (WAITING)',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({
    scopeId: id(),
    units: integer(1, mostUnits),
    holder: text(1, 256),
    ttlSeconds: optional(integer(5, 3600)).default(300),
  }),
  success: { 201: waiterReply },
  refuses: ['ALLOWANCE_NOT_FOUND', 'UNITS_EXCEED_LIMIT', 'OPERATIONS_EXHAUSTED', 'WAITERS_FULL', 'ACTIVE_RUNS_LIMITED'],
  script: 'allowance/wait',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  answer: ([waiterId, state, position, expiresAt, grantedAt, createdAt], input) => {
    const { scopeId, holder, units } = input.body;
    const asked = [param(input, 'allowanceId'), scopeId, holder, units];
    const values = [...asked, state, expiresAt, grantedAt, createdAt, position];
    return { status: 201, body: waiterRecord(waiterId, values) };
  },
});

const viewWaiter = read({
  path: '/allowance-waiters/:waiterId',
  call: 'waiter.view',
  summary: 'A waiter, with its position while it waits',
  success: { 200: waiterReply },
  refuses: ['WAITER_NOT_FOUND'],
  script: 'allowance/viewWaiter',
  answer: (values, input) => ({ status: 200, body: waiterRecord(param(input, 'waiterId'), values) }),
});

const cancelWaiter = route({
  method: 'POST',
  path: '/allowance-waiters/:waiterId/cancel',
  call: 'waiter.cancel',
  summary: 'Leave the queue; again is fine',
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  success: { 200: waiterReply },
  refuses: ['WAITER_NOT_FOUND', 'WAITER_NOT_WAITING'],
  script: 'allowance/cancelWaiter',
  answer: (values, input) => ({ status: 200, body: waiterRecord(param(input, 'waiterId'), values) }),
});

export const waiterRoutes: readonly Route[] = [wait, viewWaiter, cancelWaiter];
