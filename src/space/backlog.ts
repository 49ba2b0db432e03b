import { iso } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import { read } from '../http/legacy.ts';
import { count, record, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { countersOf } from './census.ts';

const outbox = ['UNREAD', 'PENDING', 'DELIVERED', 'EXHAUSTED'];
const counters = [
  ...outbox.map((state) => `outbox:${state}`),
  'messages:READY',
  'messages:CLAIMED',
  'waiters:WAITING',
  'timers:ARMED',
];

/** Whole seconds since a moment; null where nothing waits. */
function age(now: Value | undefined, since: Value | undefined): number | null {
  return since === null || since === undefined ? null : Math.max(0, Math.floor((Number(now) - Number(since)) / 1000));
}

function backlogRecord([now, values, oldestReady, oldestWaiter]: Reply): object {
  const of = countersOf(counters, values);
  return {
    asOf: iso(now),
    outbox: Object.fromEntries(outbox.map((state) => [state, of(`outbox:${state}`)])),
    readyMessages: of('messages:READY'),
    claimedMessages: of('messages:CLAIMED'),
    waitingWaiters: of('waiters:WAITING'),
    armedTimers: of('timers:ARMED'),
    oldestReadyAgeSeconds: age(now, oldestReady),
    oldestWaiterAgeSeconds: age(now, oldestWaiter),
  };
}

export const backlogRoute: Route = read({
  path: '/backlog',
  call: 'backlog.get',
  summary: 'What waits to be done or delivered, and for how long the oldest of it has waited',
  success: {
    200: record({
      asOf: time(),
      outbox: record(Object.fromEntries(outbox.map((state) => [state, count()]))),
      readyMessages: count(),
      claimedMessages: count(),
      waitingWaiters: count(),
      armedTimers: count(),
      oldestReadyAgeSeconds: count().allow(null),
      oldestWaiterAgeSeconds: count().allow(null),
    }),
  },
  refuses: [],
  script: 'space/backlog',
  args: () => ({ counters: counters.join(',') }),
  answer: (reply) => ({ status: 200, body: backlogRecord(reply) }),
});
