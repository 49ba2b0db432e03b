import { counter, number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import { maxLooked } from '../../engine/route/list-limits.ts';
import type { Room } from '../room.ts';
import { poolErrors } from './errors.ts';
import { poolEvents } from './events.ts';
import { poolKeys } from './keys.ts';
import { AcquiredHold, HeldHold, Hold, Pool, WaitingHold } from './records.ts';
import { poolRoutes } from './routes.ts';

export const poolRoom: Room = {
  name: 'pool',
  tag: {
    place: 6,
    tools: 'locks',
    title: 'Pools',
    description: 'Locks and places: units held under a lease, with fences.',
  },
  routes: poolRoutes,
  keys: poolKeys,
  errors: poolErrors,
  records: [Pool, Hold, AcquiredHold, WaitingHold, HeldHold],
  events: poolEvents,
  census: { holds: census(Hold) },
  backlog: { waitingHolds: counter('holds:WAITING').means('the holds in the queues of all pools') },
  waits: {
    waitingHolds: many(WaitingHold, maxLooked).means('the holds that wait for units of a pool, and why'),
    heldHolds: many(HeldHold, maxLooked).means('the holds that are HELD'),
  },
  inRun: { holds: many(Hold) },
  cancelled: { holds: number() },
  extends: {
    scope: { cancelledHolds: number().or(0).internal() },
    space: {
      /** The last fence of the space. */
      lastFence: number().or(0).internal(),
      /** A lower bound of the next end of a hold's lease. */
      nextHoldLease: number().orNull().internal(),
    },
  },
};
