import { flag, type Get, id, money, moneySum, number, oneOf, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { nested, record } from '../declare/record.ts';

export const reservationStates = ['ACTIVE', 'SETTLED', 'VOIDED'] as const;
const createdAt = time().of((get) => momentOfId(get('id')));

export const Balances = record('Balances', {
  limit: money().named('limitMinor'),
  reserved: money(),
  settled: money(),
  available: money(),
  overdrawn: moneySum().or('0'),
});

export const Budget = record('Budget', {
  id: id(),
  name: text(),
  currency: text(/^[A-Z]{3}$/),
  scale: number(0, 9),
  limitMinor: money(),
  balances: nested(Balances.fields),
  createdAt: time(),
});

/** The reserved amount: what is settled, voided and remaining, without what was settled beyond it. */
const reserved = (get: Get): string =>
  ['settledMinor', 'voidedMinor', 'remainingMinor']
    .reduce((sum, part) => sum + BigInt(String(get(part))), -BigInt(String(get('overrunMinor'))))
    .toString();

export const Reservation = record('Reservation', {
  id: id(),
  budgetId: id(),
  scopeId: id(),
  holder: text(),
  amountMinor: money().of(reserved, 'overrunMinor'),
  settledMinor: moneySum().or('0'),
  voidedMinor: money().or('0'),
  remainingMinor: money(),
  state: state('reservations', ...reservationStates),
  settleBy: time().orNull(),
  overdue: flag(),
  workKey: text().orNull(),
  createdAt,
  closedAt: time().orNull(),
  firstEntry: text().internal(),
  overrunMinor: money().or('0').internal(),
});

export const Entry = record('Entry', {
  id: id(),
  budgetId: id(),
  reservationId: id(),
  kind: oneOf('SETTLE', 'VOID'),
  amountMinor: money(),
  overdrawnMinor: money().or('0'),
  workKey: text(),
  createdAt,
});
