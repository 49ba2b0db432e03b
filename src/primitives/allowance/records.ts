import { flag, id, momentOfId, number, oneOf, state, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import type { Get } from '../../engine/declare/value.ts';

/** Far above any quota, and small enough for sums of units to be exact in JavaScript and Lua. */
export const maxUnits = 1_000_000_000;
export const waiterStates = ['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'] as const;

const numberOf = (get: Get, name: string): number => Number(get(name));
const asked = { allowanceId: id(), scopeId: id(), holder: text() };
const createdAt = time();
const expiresAt = time();
const windowEndsAt = time().means('when the window ends').example('2026-01-31T12:01:00.000Z');
const availableUnits = number().means('the units left in the current window').example(99);

const cooldownUntil = time().means('when its cooldown ends and units are granted again, or null if it has none');
const cooldownReason = text().means('the reason for the cooldown, or null if none was given');

export const Allowance = record('Allowance', {
  id: id().forModels('from allowance_list'),
  name: text(),
  unitsLimit: number().means('the units of each window').example(100),
  windowSeconds: number().means('the length of a window; windows begin at multiples of it since 1970'),
  windowStartedAt: time().means('when the current window began').example('2026-01-31T12:00:00.000Z'),
  windowEndsAt: windowEndsAt.of((get) => numberOf(get, 'windowStartedAt') + numberOf(get, 'windowSeconds') * 1000),
  usedUnits: number().means('the units used in the current window').example(1),
  availableUnits: availableUnits.of({ sum: ['unitsLimit'], less: ['usedUnits'] }),
  cooldownUntil: cooldownUntil.orNull(),
  cooldownReason: cooldownReason.orNull(),
  waiting: number().workedOut().means('the waiters in its queue'),
  createdAt,
  sequence: number().or(0).internal(),
  rebuiltThrough: number().or(0).internal(),
});

export const Cooldown = record('Cooldown', { allowanceId: id(), cooldownUntil, reason: cooldownReason.orNull() });

export const Consumption = record('Consumption', {
  id: id(),
  ...asked,
  units: number().means('the number of units').example(1),
  workKey: text().orNull().example('order-4711'),
  replay: flag(),
  windowEndsAt,
  availableUnits,
  createdAt: createdAt.of((get) => momentOfId(get('id'))),
});

export const Settlement = record('UnitsSettlement', {
  id: id(),
  allowanceId: id(),
  units: number().means('the units that were taken').example(3000),
  settledUnits: number().means('the units that were really used').example(1200),
  availableUnits,
  replay: flag(),
});

/** The consumption totals of a run: sums over its scopes. Each scope keeps its own totals in its record. */
export const ConsumptionTotals = record('ConsumptionTotals', {
  count: number().or(0).named('consumptions').means('the consumptions'),
  units: number().or(0).named('consumedUnits').means('their units in all'),
});

export const Waiter = record('Waiter', {
  id: id().forModels('`id` that allowance_wait answered'),
  waiterId: id().named('id'),
  ...asked,
  units: number(),
  state: state('waiters', ...waiterStates),
  position: number(1).orNull().workedOut().example(1),
  expiresAt,
  grantedAt: time().orNull().means('when its units were granted, or null if they were not'),
  createdAt,
  finishedAt: time().orNull().internal(),
  /** The TTL it was queued with, stored at its first renewal. Renewals that set no TTL use it. */
  ttlSeconds: number().orNull().internal(),
  /** The units that a granted waiter has really used, once reported. */
  settledUnits: number().orNull().internal(),
});

const inWaits = { waiterId: id().named('id'), ...asked, units: number(1) };

export const WaitingWaiter = record('WaitingWaiter', {
  ...inWaits,
  position: number(1),
  waitingSince: createdAt.named('createdAt'),
  expiresAt,
  blockedBy: oneOf('HEAD_OF_LINE', 'WINDOW', 'COOLDOWN').means('the reason for its wait'),
  blockedUntil: time()
    .orNull()
    .means(
      'the earliest time of its grant if it is first in line, unless units are given back or the limit is raised; null if it is unknown',
    ),
});

export const HeldGrant = record('HeldGrant', { ...inWaits, windowEndsAt });
