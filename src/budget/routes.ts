import { fields, id, integer, key, moment, optional, page, states, text } from '../http/fields.ts';
import { read, readList, route } from '../http/legacy.ts';
import { Cursors, pageOf } from '../http/page.ts';
import { randomTail } from '../http/random.ts';
import { param, type Route } from '../http/route.ts';
import { amount, currency } from './fields.ts';
import { balancesRecord, budgetRecord, entryAnswer, reservationRecord } from './records.ts';
import { budgetReply, reservationStates } from './schemas.ts';

interface CreateBody {
  name: string;
  currency: string;
  scale: number;
  limitMinor: string;
}

const create = route<unknown, CreateBody>({
  method: 'POST',
  path: '/budgets',
  call: 'budget.create',
  summary: 'Create a budget; its name is the only one of its space',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ name: key(200), currency: currency(), scale: integer(0, 9), limitMinor: amount() }),
  success: { 201: budgetReply.record },
  refuses: ['BUDGET_EXISTS', 'OPERATIONS_EXHAUSTED'],
  script: 'budget/create',
  args: ({ body }) => ({ ...body, detail: JSON.stringify(body), tail: randomTail() }),
  answer: ([budgetId, createdAt], { body: { name, currency, scale, limitMinor } }) => ({
    status: 201,
    body: budgetRecord([name, currency, scale, limitMinor, '0', '0', limitMinor, createdAt, budgetId]),
  }),
});

const list = readList({
  path: '/budgets',
  call: 'budget.list',
  summary: 'List budgets with their balances, newest first',
  script: 'budget/list',
  plural: 'budgets',
  reply: budgetReply.record,
  record: budgetRecord,
});

/** The part of the list, and the last id. */
const cursors = new Cursors('reservations', /^(active|closed) [0-9a-f-]{36}$/);

const view = read<{ limit: number; cursor?: string; state?: string }>({
  path: '/budgets/:budgetId',
  call: 'budget.view',
  summary:
    'A budget with its balances and a page of its reservations: ACTIVE ones first, then closed ones, newest first',
  query: fields({ ...page(), state: states(...reservationStates) }),
  success: { 200: budgetReply.view },
  refuses: ['BUDGET_NOT_FOUND', 'INVALID_CURSOR'],
  script: 'budget/view',
  args: (input) => {
    const [part = '', cursor = ''] = cursors.read(input).split(' ');
    return { states: pageOf.states(input.query.state), limit: input.query.limit, part, cursor };
  },
  answer: ([budget, next, rows], input) => ({
    status: 200,
    body: {
      ...budgetRecord((budget ?? []) as string[]),
      reservations: pageOf.rows(rows).map((row) => reservationRecord(param(input, 'budgetId'), row)),
      nextCursor: cursors.next(input, next),
    },
  }),
});

interface ReserveBody {
  scopeId: string;
  holder: string;
  amountMinor: string;
  settleBy?: number;
}

const reserve = route<unknown, ReserveBody>({
  method: 'POST',
  path: '/budgets/:budgetId/reserve',
  call: 'budget.reserve',
  summary: 'Reserve an amount; once settleBy has passed the reservation is overdue, and nothing else happens to it',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ scopeId: id(), holder: text(1, 256), amountMinor: amount('1'), settleBy: optional(moment()) }),
  success: { 201: budgetReply.reserved },
  refuses: ['BUDGET_NOT_FOUND', 'OPERATIONS_EXHAUSTED', 'TIMERS_FULL', 'ACTIVE_RUNS_LIMITED', 'INSUFFICIENT_BUDGET'],
  script: 'budget/reserve',
  args: ({ body }) => ({ ...body, settleBy: body.settleBy ?? '', tail: randomTail() }),
  answer: ([reservationId, balances], input) => {
    const { scopeId, holder, amountMinor, settleBy } = input.body;
    const made = [scopeId, holder, amountMinor, '0', '0', amountMinor, 'ACTIVE', settleBy ?? null, null];
    return {
      status: 201,
      body: {
        ...reservationRecord(param(input, 'budgetId'), [...made, null, reservationId]),
        balances: balancesRecord(balances),
      },
    };
  },
});

interface SettleBody {
  reservationId: string;
  amountMinor: string;
  workKey: string;
}

const settle = route<unknown, SettleBody>({
  method: 'POST',
  path: '/budgets/:budgetId/settle',
  call: 'budget.settle',
  summary: 'Settle part of a reservation or all of it; what is left stays reserved. Idempotent per workKey',
  permission: 'resource_config',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ reservationId: id(), amountMinor: amount(), workKey: key() }),
  success: { 200: budgetReply.entry },
  refuses: [
    'BUDGET_NOT_FOUND',
    'WORK_KEY_CONFLICT',
    'RESERVATION_NOT_FOUND',
    'RESERVATION_CLOSED',
    'SETTLEMENT_EXCEEDS_RESERVATION',
  ],
  script: 'budget/settle',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  answer: entryAnswer('SETTLE'),
});

const release = route<unknown, { reservationId: string; workKey: string }>({
  method: 'POST',
  path: '/budgets/:budgetId/void',
  call: 'budget.void',
  summary: 'Release what is left of a reservation. Idempotent per workKey',
  permission: 'resource_config',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ reservationId: id(), workKey: key() }),
  success: { 200: budgetReply.entry },
  refuses: ['BUDGET_NOT_FOUND', 'WORK_KEY_CONFLICT', 'RESERVATION_NOT_FOUND', 'RESERVATION_CLOSED'],
  script: 'budget/void',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  answer: entryAnswer('VOID'),
});

export const budgetRoutes: readonly Route[] = [create, list, view, reserve, settle, release];
