import { counter, number } from '../declare/field.ts';
import { secondsSince } from '../declare/moment.ts';
import { census, many, one } from '../declare/record.ts';
import type { Room } from '../room.ts';
import { allowanceErrors } from './errors.ts';
import { allowanceEvents } from './events.ts';
import { allowanceGlossary } from './glossary.ts';
import { allowanceKeys } from './keys.ts';
import { Allowance, Consumption, ConsumptionTotals, HeldGrant, Waiter, WaitingWaiter } from './records.ts';
import { allowanceRoutes } from './routes.ts';

export const allowanceRoom: Room = {
  name: 'allowance',
  glossary: allowanceGlossary,
  routes: allowanceRoutes,
  keys: allowanceKeys,
  errors: allowanceErrors,
  records: [Allowance, Consumption, ConsumptionTotals, Waiter, WaitingWaiter, HeldGrant],
  events: allowanceEvents,
  census: { waiters: census(Waiter) },
  backlog: {
    waitingWaiters: counter('waiters:WAITING'),
    oldestWaiterAgeSeconds: number()
      .orNull()
      .of((get) => secondsSince(get('oldestWaitingAt'), get('now')), 'oldestWaitingAt', 'now'),
  },
  waits: { waiters: many(WaitingWaiter, 200), heldGrants: many(HeldGrant, 200) },
  inRun: { waiters: many(Waiter), consumptions: one(ConsumptionTotals) },
  cancelled: { waiters: number() },
  extends: {
    scope: {
      consumptions: number().or(0).internal(),
      consumedUnits: number().or(0).internal(),
      cancelledWaiters: number().or(0).internal(),
    },
  },
  limits: { maxPendingWaiters: { min: 1, max: 1_000_000, default: 10_000 } },
};
