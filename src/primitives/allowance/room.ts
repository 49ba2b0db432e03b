import { counter, number, secondsSince } from '../../engine/declare/field.ts';
import { census, many, one } from '../../engine/declare/record.ts';
import { maxLooked } from '../../engine/route/list-limits.ts';
import type { Room } from '../room.ts';
import { allowanceErrors } from './errors.ts';
import { allowanceEvents } from './events.ts';
import { allowanceKeys } from './keys.ts';
import { Allowance, Consumption, ConsumptionTotals, HeldGrant, Settlement, Waiter, WaitingWaiter } from './records.ts';
import { allowanceRoutes } from './routes.ts';

export const allowanceRoom: Room = {
  name: 'allowance',
  tag: {
    place: 5,
    tools: 'quotas',
    title: 'Allowances',
    description: 'Shared quotas per window, waiting in order, cooldowns.',
  },
  routes: allowanceRoutes,
  keys: allowanceKeys,
  errors: allowanceErrors,
  records: [Allowance, Consumption, Settlement, ConsumptionTotals, Waiter, WaitingWaiter, HeldGrant],
  events: allowanceEvents,
  census: { waiters: census(Waiter) },
  backlog: {
    waitingWaiters: counter('waiters:WAITING').means('the waiters in all queues'),
    oldestWaiterAgeSeconds: number()
      .orNull()
      .means('the seconds that the first of them has waited, or null if none waits')
      .of((get) => secondsSince(get('oldestWaitingAt'), get('now')), 'oldestWaitingAt', 'now'),
  },
  waits: {
    waiters: many(WaitingWaiter, maxLooked),
    heldGrants: many(HeldGrant, maxLooked).means('the grants of windows that have not ended'),
  },
  inRun: { waiters: many(Waiter), consumptions: one(ConsumptionTotals).means('the sum of its consumptions') },
  cancelled: { waiters: number() },
  extends: {
    scope: {
      consumptions: number().or(0).internal(),
      consumedUnits: number().or(0).internal(),
      cancelledWaiters: number().or(0).internal(),
    },
  },
  limits: {
    maxPendingWaiters: {
      meaning: 'the most WAITING waiters and WAITING holds in the space, together',
      min: 1,
      max: 1_000_000,
      default: 10_000,
    },
  },
};
