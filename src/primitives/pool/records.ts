import { exampleId, flag, id, momentOfId, number, oneOf, state, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';

/** More than any fleet needs. Sums of units stay exact in JavaScript and Lua. */
export const maxPoolUnits = 1_000_000;
export const holdStates = ['WAITING', 'HELD', 'RELEASED', 'LAPSED', 'CANCELLED', 'EXPIRED'] as const;

const noon = '2026-01-31T12:00:00.000Z';

export const Pool = record('Pool', {
  id: id().forModels('id of a pool, from pool_list').example(exampleId('poolId')),
  name: text().example('deploys'),
  units: number(1).means('how many units can be held at once; 1: a lock').example(1),
  heldUnits: number().or(0).means('the units that are held').example(1),
  availableUnits: number()
    .of({ sum: ['units'], less: ['heldUnits'] })
    .means('the units that nobody holds')
    .example(0),
  waiting: number().workedOut().means('the holds in its queue'),
  createdAt: time(),
  /** The number of live messages that require units of it. */
  requiredBy: number().or(0).internal(),
  sequence: number().or(0).internal(),
  rebuiltThrough: number().or(0).internal(),
});

const fence = number(1)
  .orNull()
  .means('the fence of the hold, greater than all earlier ones of the pool, or null if it was never HELD')
  .example(1_769_860_800_000_000);

export const Hold = record('Hold', {
  id: id().forModels('`id` from pool_acquire').example(exampleId('holdId')),
  holdId: id().named('id').example(exampleId('holdId')),
  poolId: id(),
  scopeId: id(),
  holder: text(),
  holderSession: text().orNull().means('the session of its holder, or null if none was given'),
  units: number(1).means('the number of units that it holds or waits for').example(1),
  state: state('holds', ...holdStates).example('HELD'),
  fence,
  position: number(1)
    .orNull()
    .workedOut()
    .means('its place in the queue, from 1, or null if it does not wait')
    .example(null),
  leaseSeconds: number(1).means('the length of the lease, from the grant or a renewal that sets no other').example(60),
  leaseExpiresAt: time()
    .orNull()
    .means('when its lease ends unless it is renewed, or null if it is not HELD')
    .example('2026-01-31T12:01:00.000Z'),
  expiresAt: time().orNull().means('when its wait ends, or null if it does not wait').example(null),
  heldAt: time().orNull().means('when its units were granted, or null if they were not').example(noon),
  finishedAt: time().orNull(),
  createdAt: time().of((get) => momentOfId(get('id'))),
  token: text().orNull().secret(),
  /** The TTL it was queued with, stored at its first renewal in the queue. Renewals that set no TTL use it. */
  ttlSeconds: number().orNull().internal(),
});

const token = text().means("the hold's secret, for renew and release").example('q1Yw3T0dB8mLr5vXz7Nc2A');

export const AcquiredHold = Hold.with('AcquiredHold', { token });

const { poolId, scopeId, holder, holderSession, leaseExpiresAt } = Hold.fields;
const inWaits = { holdId: id().named('id'), poolId, scopeId, holder, holderSession, units: number(1) };

export const WaitingHold = record('WaitingHold', {
  ...inWaits,
  position: number(1),
  waitingSince: time().of((get) => momentOfId(get('id'))),
  expiresAt: time(),
  /** AGENTS: enough units are free, but the plan allows no more agents at once. */
  blockedBy: oneOf('HEAD_OF_LINE', 'UNITS', 'AGENTS').means('the reason for its wait'),
});

export const HeldHold = record('HeldHold', {
  ...inWaits,
  fence: number(1).means('its fence').example(1_769_860_800_000_000),
  heldAt: time(),
  leaseExpiresAt,
});

/** For the event: whether someone other than its holder released it. */
export const isForced = flag().means('whether it was released without its token');
