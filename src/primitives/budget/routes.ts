import Joi from 'joi';
import { type Answered, flag, id as idField, money, raws, text as textField } from '../../engine/declare/field.ts';
import { exactly, many, one } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { invalid } from '../../engine/route/errors.ts';
import {
  actor,
  fields,
  flag as flagField,
  id,
  integer,
  key,
  moment,
  ofRun,
  optional,
  page,
  states,
} from '../../engine/route/fields.ts';
import { Cursors, noState, statesText } from '../../engine/route/page.ts';
import { byName, readList } from '../../engine/route/read-list.ts';
import { type Input, type Route, type RouteAnswer, read, route } from '../../engine/route/route.ts';
import { alertPercents, amount, currency } from './fields.ts';
import { amountsByName } from './kinds.ts';
import { Balances, Budget, Entry, overduePolicies, Reservation, reservationStates } from './records.ts';

const yearSeconds = 31_536_000;

const create = route({
  method: 'POST',
  path: '/budgets',
  call: 'budget.create',
  summary: 'Create a budget; its name is unique in the space',
  description:
    'Always, exactly: limit = reserved + settled + available. Amounts are strings of up to 18 digits, in minor ' +
    'units of `currency` as `scale` says: with scale 2, `"1250"` is 12.50. Whatever a budget reserves and settles, the one ' +
    'above it (`parentBudgetId`) and all above that reserve and settle, too. With `windowSeconds` windows begin at multiples ' +
    'of it since 1970: `settled` starts at zero in each, or at what it pays of the overdrawn amount; reservations stay.',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({
    name: key(200),
    currency: currency(),
    scale: integer(0, 9),
    limitMinor: amount(),
    parentBudgetId: optional(id()).description(
      'the budget above it, of the same currency and scale; a tree has at most 8 levels',
    ),
    windowSeconds: optional(integer(60, yearSeconds)).description('the length of its windows; by default it has none'),
    // Scripts take the text; callers leave out a list.
    alertPercents: optional(alertPercents(), '[]').meta({ default: [] }),
  }),
  success: { 201: Budget.schema },
  refuses: ['BUDGET_EXISTS', 'BUDGET_NOT_FOUND', 'PARENT_MISMATCH', 'OPERATIONS_EXHAUSTED'],
  script: 'budget/create',
  args: ({ body: { parentBudgetId = '', windowSeconds = '', alertPercents, ...plain } }) => ({
    ...{ ...plain, parentBudgetId, windowSeconds, alertPercents: alertPercents === '[]' ? '' : alertPercents },
    detail: JSON.stringify({
      ...plain,
      ...(parentBudgetId && { parentBudgetId }),
      ...(windowSeconds && { windowSeconds }),
      ...(alertPercents !== '[]' && { alertPercents: JSON.parse(alertPercents) }),
    }),
    tail: randomTail(),
  }),
  reply: { budget: one(Budget) },
});

const list = readList({
  path: '/budgets',
  call: 'budget.list',
  summary: 'List budgets with their balances, newest first; by name',
  description: 'The balances are current: limit = reserved + settled + available.',
  title: 'Find budgets',
  tool: 'Find the budget that pays for what you are about to do, with what is available in it. Amounts are digit strings in minor units (cents, at scale 2).',
  whenEmpty:
    'None. No budget limits what you spend here: only a person makes one. Do not spend money on your own; ask with question_create.',
  script: 'budget/list',
  plural: 'budgets',
  record: Budget,
  filters: byName(),
});

const cursors = new Cursors('reservations', /^(active|closed) [0-9a-f-]{36}$/);
const nextCursor = textField().orNull();
const reservations = many(Reservation);
const spentByLabel = amountsByName()
  .means(
    'the amounts spent in the current window by label, in minor units; `other` has those of all labels after the first 50',
  )
  .example({});

const view = read({
  path: '/budgets/:budgetId',
  call: 'budget.view',
  summary:
    'A budget with its balances and a page of its reservations: ACTIVE ones first, then closed ones, newest first',
  description: 'Filter the reservations by `state`; the balances always cover the whole budget.',
  query: fields({ ...page(), state: states(...reservationStates) }),
  success: { 200: Budget.with('BudgetView', { spentByLabel, reservations, nextCursor }).schema },
  refuses: ['BUDGET_NOT_FOUND', 'INVALID_CURSOR'],
  script: 'budget/view',
  args: (input) => {
    const [part = '', cursor = ''] = cursors.read(input).split(' ');
    return { states: statesText(input.query.state), limit: input.query.limit, part, cursor };
  },
  asRecord: { args: { states: noState }, without: ['reservations', 'nextCursor'] },
  reply: { budget: one(Budget), spentByLabel, nextCursor, reservations },
  answer: ({ budget, spentByLabel, nextCursor, reservations }, input) => ({
    status: 200,
    body: { ...budget, spentByLabel, reservations, nextCursor: cursors.next(input, nextCursor) },
  }),
});

const update = route({
  method: 'PATCH',
  path: '/budgets/:budgetId',
  call: 'budget.update',
  summary: 'Change the limit of a budget, never below what is reserved and settled, and its alerts',
  description:
    'A limit below what is reserved and settled together is refused with LIMIT_BELOW_USE. The same limit again ' +
    'changes nothing. A limit that also covers the overdrawn amount settles it; a lower one leaves it. ' +
    'An alert that is already reached is announced at once; after a higher limit an alert above the current use is armed again.',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({
    limitMinor: optional(amount()).description('the new limit, in minor units, as digits').example('100000'),
    alertPercents: optional(alertPercents()),
  })
    .or('limitMinor', 'alertPercents')
    .messages({ 'object.missing': 'limitMinor or alertPercents is missing' }),
  success: { 200: Budget.schema },
  refuses: ['BUDGET_NOT_FOUND', 'LIMIT_BELOW_USE', 'OPERATIONS_EXHAUSTED'],
  script: 'budget/update',
  args: ({ body: { limitMinor, alertPercents } }) => ({
    limitMinor: limitMinor ?? '',
    alertPercents: alertPercents ?? '',
    detail: JSON.stringify({ limitMinor, ...(alertPercents && { alertPercents: JSON.parse(alertPercents) }) }),
  }),
  reply: { budget: one(Budget) },
});

const Reserved = Reservation.with('Reserved', { replay: flag() });

const reserve = route({
  method: 'POST',
  path: '/budgets/:budgetId/reserve',
  call: 'budget.reserve',
  summary:
    'Reserve an amount; a known workKey answers the reservation that was made with it. Once settleBy has passed the ' +
    'reservation is overdue: then its rest stays reserved or, with onOverdue SETTLE, is settled',
  description:
    'A `workKey` lets a second attempt find the reservation of the first: for any caller, the same key and ' +
    'amount answer the first reservation in its current state, with `replay` true; another amount is ' +
    'WORK_KEY_CONFLICT. The key is known as long as the reservation is kept. ' +
    'With `onOverdue` SETTLE, money that may have been spent is booked as spent even if nobody is left to do so: at ' +
    '`settleBy` the rest is settled with the label `overdue`, in the window in which `settleBy` lies, and later settles and ' +
    'voids are RESERVATION_CLOSED. Nothing is ever voided by itself.',
  title: 'Reserve money',
  tool: 'Set aside the most that a costly step may cost; begin only if this succeeds. Then budget_settle what it did cost, and budget_void the rest. With a workKey another attempt finds this reservation (replay true).',
  permission: 'resource_spend',
  idempotency: 'required',
  body: fields({
    scopeId: ofRun(),
    holder: actor(),
    amountMinor: amount('1')
      .description('the amount to set aside, in minor units, as digits: "250" is 2.50 at scale 2')
      .meta({ model: 'digits, in minor units: "250" is 2.50 at scale 2' }),
    settleBy: optional(moment())
      .description('when the reservation becomes overdue unless it is settled or voided before')
      .meta({ model: 'when it becomes overdue' }),
    onOverdue: optional(
      Joi.valid(...overduePolicies) as Joi.AnySchema<(typeof overduePolicies)[number]>,
      overduePolicies[0],
    )
      .description(
        'what happens at settleBy to the rest: KEEP: it stays set aside; SETTLE: it is settled, as it may have been spent; only with settleBy',
      )
      .meta({ model: 'at settleBy: KEEP the rest aside (default), or SETTLE it' }),
    workKey: optional(key())
      .description(
        "the caller's name for what it pays: a known one of the budget answers the first reservation, with replay true",
      )
      .meta({ model: 'a name for the step: a known one answers the first reservation' }),
  }),
  toolAnswer: true,
  success: { 201: Reserved.with('Reserved', { balances: one(Balances) }).schema },
  refuses: [
    'BUDGET_NOT_FOUND',
    'WORK_KEY_CONFLICT',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'TIMERS_FULL',
    'ACTIVE_RUNS_LIMITED',
    'INSUFFICIENT_BUDGET',
  ],
  script: 'budget/reserve',
  args: ({ body: { onOverdue, settleBy = '', ...body } }) => {
    const settles = onOverdue === 'SETTLE';
    if (settles && settleBy === '') throw invalid('onOverdue SETTLE may only be sent with settleBy');
    return {
      ...{ ...body, settleBy, onOverdue: settles ? onOverdue : '' },
      holder: body.holder ?? '',
      workKey: body.workKey ?? '',
      tail: randomTail(),
    };
  },
  reply: { ...raws('id'), balances: one(Balances), first: one(Reservation).orNull(), ...raws('holder') },
  makes: Reserved,
  given: (input) => {
    const { amountMinor, ...asked } = input.body;
    const amounts = { settledMinor: '0', voidedMinor: '0', overrunMinor: '0', remainingMinor: amountMinor };
    return { ...asked, budgetId: param(input, 'budgetId'), state: 'ACTIVE', ...amounts };
  },
});

const recorded = {
  id: idField(),
  amountMinor: money(),
  overdrawnMinor: money(),
  replay: flag(),
  reservation: one(Reservation),
  balances: one(Balances),
};
const recordedSchema = exactly({
  entry: Entry.schema.description('the ledger entry that was made'),
  replay: flag().schema,
  reservation: Reservation.schema.description('the reservation in its current state'),
  balances: Balances.schema.description('the balances of the budget'),
});

const workKey = () =>
  key()
    .description("the caller's name for the entry: a known one changes nothing and answers the first entry")
    .meta({ model: 'a name for the entry: a known one answers the first' });

/** Picks the answer that shows an entry of this kind. */
const answerOf =
  (kind: 'SETTLE' | 'VOID') =>
  (
    { id, amountMinor, overdrawnMinor, replay, reservation, balances }: Answered<typeof recorded>,
    input: Input<unknown, { readonly reservationId: string; readonly workKey: string }>,
    replayed: boolean,
  ): RouteAnswer => {
    const { reservationId, workKey } = input.body;
    const budgetId = param(input, 'budgetId');
    const entry = Entry.of({ id, budgetId, reservationId, kind, amountMinor, overdrawnMinor, workKey });
    return { status: 200, body: { entry, replay: replayed || replay, reservation, balances } };
  };

const settle = route({
  method: 'POST',
  path: '/budgets/:budgetId/settle',
  call: 'budget.settle',
  summary: 'Settle part of a reservation or all of it; the rest stays reserved. Idempotent per workKey',
  description:
    'Spends at most the rest of the reservation (`SETTLEMENT_EXCEEDS_RESERVATION`), unless `overrun` is ' +
    'true. Settle as often as you like; once nothing is left, the reservation is SETTLED. Void what will not be used.',
  title: 'Settle a cost',
  tool: 'Book the cost of a step against its reservation; the rest stays reserved until budget_void. If it cost more than is left, set overrun.',
  isRepeatable: true,
  permission: 'resource_spend',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    reservationId: id(),
    amountMinor: amount()
      .description('the amount spent, in minor units, as digits: "250" is 2.50 at scale 2')
      .meta({ model: 'digits, in minor units, as for budget_reserve' }),
    workKey: workKey(),
    overrun: optional(flagField(), false)
      .description(
        'whether the amount may exceed the rest of the reservation because it was really spent: the budget then pays the difference, and may be overdrawn',
      )
      .meta({ model: 'whether to record more than is left, if it was spent' }),
    label: optional(key(64))
      .description('the purpose that it was spent for; the budget shows the sums by label')
      .meta({ model: 'what it was spent for' })
      .example('research'),
  }),
  toolAnswer: true,
  success: { 200: recordedSchema },
  refuses: [
    'BUDGET_NOT_FOUND',
    'WORK_KEY_CONFLICT',
    'RESERVATION_NOT_FOUND',
    'RESERVATION_CLOSED',
    'SETTLEMENT_EXCEEDS_RESERVATION',
  ],
  script: 'budget/settle',
  args: ({ body }) => ({ ...body, label: body.label ?? '', overrun: body.overrun ? '1' : '', tail: randomTail() }),
  reply: recorded,
  answer: answerOf('SETTLE'),
});

const release = route({
  method: 'POST',
  path: '/budgets/:budgetId/void',
  call: 'budget.void',
  summary: 'Release the rest of a reservation. Idempotent per workKey',
  description: 'The rest of the reservation is available again, and it is VOIDED.',
  title: 'Release what was not used',
  tool: 'Give what is left of a reservation back to the budget and close it. Call it when the step is over or given up.',
  isDestructive: true,
  isRepeatable: true,
  permission: 'resource_spend',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ reservationId: id(), workKey: workKey() }),
  success: { 200: recordedSchema },
  refuses: ['BUDGET_NOT_FOUND', 'WORK_KEY_CONFLICT', 'RESERVATION_NOT_FOUND', 'RESERVATION_CLOSED'],
  script: 'budget/void',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  reply: recorded,
  answer: answerOf('VOID'),
});

export const budgetRoutes: readonly Route[] = [create, list, view, update, reserve, settle, release];
