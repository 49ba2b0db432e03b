import { iso, momentOfId } from '../declare/moment.ts';
import { fields, id, integer, key, optional, text } from '../http/fields.ts';
import { read, readList, route } from '../http/legacy.ts';
import { randomTail } from '../http/random.ts';
import { param, type Route } from '../http/route.ts';
import { allowanceRecord } from './records.ts';
import { allowanceReply, consumptionReply, cooldownReply, mostUnits } from './schemas.ts';
import { waiterRoutes } from './waiter-routes.ts';

const yearSeconds = 31_536_000;

interface CreateBody {
  name: string;
  unitsLimit: number;
  windowSeconds: number;
}

const create = route<unknown, CreateBody>({
  method: 'POST',
  path: '/allowances',
  call: 'allowance.create',
  summary: 'Create an allowance: so many units in each fixed window',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ name: key(200), unitsLimit: integer(1, mostUnits), windowSeconds: integer(1, yearSeconds) }),
  success: { 201: allowanceReply },
  refuses: ['ALLOWANCE_EXISTS', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/create',
  args: ({ body: { name, unitsLimit, windowSeconds } }) => ({
    name,
    unitsLimit,
    windowSeconds,
    tail: randomTail(),
    detail: JSON.stringify({ name, unitsLimit, windowSeconds }),
  }),
  answer: (values) => ({ status: 201, body: allowanceRecord(values) }),
});

const list = readList({
  path: '/allowances',
  call: 'allowance.list',
  summary: 'List allowances with their balances of the current window, newest first',
  script: 'allowance/list',
  plural: 'allowances',
  reply: allowanceReply,
  record: allowanceRecord,
});

const view = read({
  path: '/allowances/:allowanceId',
  call: 'allowance.view',
  summary: "An allowance's balance of the current window, and its cooldown",
  success: { 200: allowanceReply },
  refuses: ['ALLOWANCE_NOT_FOUND'],
  script: 'allowance/view',
  answer: (values) => ({ status: 200, body: allowanceRecord(values) }),
});

interface ConsumeBody {
  scopeId: string;
  units: number;
  holder: string;
  workKey?: string;
}

const consume = route<unknown, ConsumeBody>({
  method: 'POST',
  path: '/allowances/:allowanceId/consume',
  call: 'allowance.consume',
  summary: 'Use units of the current window; refused while anyone waits; a known workKey answers its first consumption',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ scopeId: id(), units: integer(1, mostUnits), holder: text(1, 256), workKey: optional(key()) }),
  success: { 201: consumptionReply },
  refuses: [
    'ALLOWANCE_NOT_FOUND',
    'WORK_KEY_CONFLICT',
    'UNITS_EXCEED_LIMIT',
    'OPERATIONS_EXHAUSTED',
    'ACTIVE_RUNS_LIMITED',
    'ALLOWANCE_COOLING_DOWN',
    'ALLOWANCE_EXHAUSTED',
  ],
  script: 'allowance/consume',
  args: ({ body }) => ({ ...body, workKey: body.workKey ?? '', tail: randomTail() }),
  answer: ([consumptionId, scopeId, windowEndsAt, availableUnits, known], input, replayed) => ({
    status: 201,
    body: {
      id: consumptionId,
      allowanceId: param(input, 'allowanceId'),
      scopeId,
      holder: input.body.holder,
      units: input.body.units,
      workKey: input.body.workKey ?? null,
      replay: replayed || known === 1,
      windowEndsAt: iso(windowEndsAt),
      availableUnits: Number(availableUnits),
      createdAt: iso(momentOfId(consumptionId)),
    },
  }),
});

const cooldown = route<unknown, { seconds: number; reason: string }>({
  method: 'POST',
  path: '/allowances/:allowanceId/cooldown',
  call: 'allowance.cooldown',
  summary: 'Block consumption and grants for a time; never shortens a cooldown that runs',
  permission: 'resource_config',
  idempotency: 'optional',
  body: fields({ seconds: integer(1, 3600), reason: optional(text(0, 512).allow('')).default('') }),
  success: { 200: cooldownReply },
  refuses: ['ALLOWANCE_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/cooldown',
  args: ({ body }) => body,
  answer: ([cooldownUntil, reason], input) => ({
    status: 200,
    body: {
      allowanceId: param(input, 'allowanceId'),
      cooldownUntil: iso(cooldownUntil),
      reason: reason === '' ? null : reason,
    },
  }),
});

export const allowanceRoutes: readonly Route[] = [create, list, view, consume, cooldown, ...waiterRoutes];
