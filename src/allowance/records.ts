import { flag, type Get, id, number, oneOf, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { record } from '../declare/record.ts';

/** Far above any quota, and small enough for sums of units to be exact in JavaScript and Lua. */
export const maxUnits = 1_000_000_000;
export const waiterStates = ['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'] as const;

const numberOf = (get: Get, name: string): number => Number(get(name));
const asked = { allowanceId: id(), scopeId: id(), holder: text() };
const createdAt = time();
const expiresAt = time();
const windowEndsAt = time();
const availableUnits = number();

export const Allowance = record('Allowance', {
  id: id(),
  name: text(),
  unitsLimit: number(),
  windowSeconds: number(),
  windowStartedAt: time(),
  windowEndsAt: windowEndsAt.of((get) => numberOf(get, 'windowStartedAt') + numberOf(get, 'windowSeconds') * 1000),
  usedUnits: number(),
  availableUnits: availableUnits.of((get) => Math.max(0, numberOf(get, 'unitsLimit') - numberOf(get, 'usedUnits'))),
  cooldownUntil: time().orNull(),
  cooldownReason: text().orNull(),
  waiting: number().workedOut(),
  createdAt,
  sequence: number().or(0).internal(),
  rebuiltThrough: number().or(0).internal(),
});

export const Cooldown = record('Cooldown', { allowanceId: id(), cooldownUntil: time(), reason: text().orNull() });

export const Consumption = record('Consumption', {
  id: id(),
  ...asked,
  units: number(),
  workKey: text().orNull(),
  replay: flag(),
  windowEndsAt,
  availableUnits,
  createdAt: createdAt.of((get) => momentOfId(get('id'))),
});

/** The consumptions of a run: sums over its scopes, which keep theirs in their records. */
export const ConsumptionTotals = record('ConsumptionTotals', {
  count: number().or(0).named('consumptions'),
  units: number().or(0).named('consumedUnits'),
});

export const Waiter = record('Waiter', {
  id: id(),
  waiterId: id().named('id'),
  ...asked,
  units: number(),
  state: state('waiters', ...waiterStates),
  position: number(1).orNull().workedOut(),
  expiresAt,
  grantedAt: time().orNull(),
  createdAt,
  finishedAt: time().orNull().internal(),
  /** Of one that was renewed: how long it waits unless a renewal says otherwise. */
  ttlSeconds: number().orNull().internal(),
});

const inWaits = { waiterId: id().named('id'), ...asked, units: number(1) };

export const WaitingWaiter = record('WaitingWaiter', {
  ...inWaits,
  position: number(1),
  waitingSince: createdAt.named('createdAt'),
  expiresAt,
  blockedBy: oneOf('HEAD_OF_LINE', 'WINDOW', 'COOLDOWN'),
  /** Of the head of the line: it is not granted before that moment. */
  blockedUntil: time().orNull(),
});

export const HeldGrant = record('HeldGrant', { ...inWaits, windowEndsAt });
