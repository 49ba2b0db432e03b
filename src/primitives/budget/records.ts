import { flag, id, momentOfId, money, moneySum, number, oneOf, state, text, time } from '../../engine/declare/field.ts';
import { nested, record } from '../../engine/declare/record.ts';
import type { Value } from '../../engine/declare/value.ts';
import { percentages } from './kinds.ts';

export const reservationStates = ['ACTIVE', 'SETTLED', 'VOIDED'] as const;
export const overduePolicies = ['KEEP', 'SETTLE'] as const;
const amountMinor = money().means('the amount, in minor units, as digits');
const createdAt = time().of((get) => momentOfId(get('id')));

const endOf = (startedAt: Value, seconds: Value): Value =>
  startedAt === null || seconds === null ? null : Number(startedAt) + Number(seconds) * 1000;

export const alertPercents = percentages().means(
  'the percentages of the limit at which its use is announced, each once in a window',
);

export const Balances = record('Balances', {
  limit: money().named('limitMinor').means('the whole budget, in minor units').example('100000'),
  reserved: money().means('the amount that is reserved and neither settled nor voided, in minor units'),
  settled: money().means('the amount spent, in minor units').example('0'),
  available: money().means('the amount that can still be reserved, in minor units').example('98750'),
  overdrawn: moneySum()
    .of({ sum: ['overdrawn'] }, 'overdrawn')
    .means(
      'the amount spent beyond the limit, in minor units, which is part of no other balance; while it is not 0, nothing can be reserved until a new limit covers it or a new window has paid it',
    )
    .example('0'),
});

export const Budget = record('Budget', {
  id: id().forModels('from budget_list'),
  name: text(),
  currency: text(/^[A-Z]{3}$/).means('the three letters of ISO 4217, or a name of your own for other units'),
  scale: number(0, 9).means('the digits of an amount behind the point: 2 for cents').example(2),
  limitMinor: money().means('the whole budget, in minor units').example('100000'),
  balances: nested(Balances.fields).means('its balances: limit = reserved + settled + available, at every moment'),
  parentBudgetId: id()
    .orNull()
    .of({ wordOf: 'line' }, 'line')
    .means('the budget above it, which pays whatever this one pays, or null if there is none'),
  windowSeconds: number(1)
    .orNull()
    .means('the length of its windows, each of which starts with nothing settled; null if it has none'),
  windowStartedAt: time().orNull().means('when the current window began, or null if it has no windows'),
  windowEndsAt: time()
    .orNull()
    .of((get) => endOf(get('windowStartedAt'), get('windowSeconds')))
    .means('when the current window ends, or null if it has no windows'),
  settledTotal: moneySum()
    .of({ sum: ['settled', 'settledBefore'] }, 'settledBefore')
    .means('the amount spent in all windows, in minor units')
    .example('0'),
  alertPercents: alertPercents.of((get) => get('alertPercents') ?? '[]', 'alertPercents'),
  createdAt: time(),
  /** Stored in budgets with a parent, a window or alerts, and in overdrawn ones (lua/budget/_budget.lua). */
  storedOverdrawn: moneySum().orNull().named('overdrawn').internal(),
  storedPercents: percentages().orNull().named('alertPercents').internal(),
  line: text().orNull().internal(),
  settledBefore: moneySum().or('0').internal(),
  alerted: text().orNull().internal(),
});

export const Reservation = record('Reservation', {
  id: id(),
  budgetId: id(),
  scopeId: id(),
  holder: text(),
  amountMinor: amountMinor.of(
    { sum: ['settledMinor', 'voidedMinor', 'remainingMinor'], less: ['overrunMinor'] },
    'overrunMinor',
  ),
  settledMinor: moneySum().or('0').means('spent of it, and beyond it by an overrun, in minor units').example('0'),
  voidedMinor: money().or('0').means('the part given back, in minor units').example('0'),
  remainingMinor: money().means('the amount that is still reserved, in minor units'),
  state: state('reservations', ...reservationStates),
  settleBy: time().orNull().means('when it becomes overdue unless it is settled or voided, or null if it never does'),
  onOverdue: oneOf(...overduePolicies)
    .or('KEEP')
    .means('what settleBy does with the amount that is still set aside: KEEP keeps it set aside; SETTLE settles it')
    .example('KEEP'),
  overdue: flag().means('whether settleBy has passed while something is still set aside'),
  workKey: text()
    .orNull()
    .means("the caller's name for what it pays for, or null if it has none")
    .example('order-4711'),
  createdAt,
  closedAt: time().orNull().means('when it was settled or voided in full, or null if it was not yet'),
  firstEntry: text().orNull().internal(),
  overrunMinor: money().or('0').internal(),
});

export const Entry = record('Entry', {
  id: id(),
  budgetId: id(),
  reservationId: id().forModels('`id` that budget_reserve answered'),
  kind: oneOf('SETTLE', 'VOID').means('SETTLE if the amount was spent, VOID if it was given back'),
  amountMinor,
  overdrawnMinor: money().or('0').means('the part of the amount that overdrew the budget, in minor units').example('0'),
  workKey: text().means("the caller's name for the entry, unique among the budget's settlements, or its voids"),
  createdAt,
});
