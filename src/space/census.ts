import { waiterStates } from '../allowance/schemas.ts';
import { barrierStates } from '../barrier/records.ts';
import { reservationStates } from '../budget/schemas.ts';
import { iso } from '../declare/moment.ts';
import type { Value } from '../declare/value.ts';
import { groupStates } from '../group/records.ts';
import { read } from '../http/legacy.ts';
import { count, record, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { messageStates, taskStates } from '../mailbox/records.ts';

/** Every state of every kind that the census counts (contract section 4). */
const states = {
  scopes: ['ACTIVE', 'IDLE'],
  claims: ['HELD'],
  timers: ['ARMED'],
  messages: messageStates,
  tasks: taskStates,
  groups: groupStates,
  waiters: waiterStates,
  barriers: barrierStates,
  reservations: reservationStates,
};
type Kind = keyof typeof states;

/** A task is counted with its message, and by itself once only its tombstone is left. */
const messageStatesOf: Readonly<Record<string, readonly string[]>> = {
  PENDING: ['READY'],
  RUNNING: ['CLAIMED'],
  SUCCEEDED: ['ACKED'],
  FAILED: ['REJECTED', 'FAILED'],
  EXPIRED: ['EXPIRED'],
  CANCELLED: ['CANCELLED'],
};

const counted: readonly Kind[] = ['scopes', 'timers', 'messages', 'groups', 'waiters', 'barriers', 'reservations'];

/** The counters of the space's record that the census is made of. */
const counters = [
  ...counted.flatMap((kind) => states[kind].map((state) => `${kind}:${state}`)),
  ...states.messages.map((state) => `inbox:${state}`),
  ...states.tasks.slice(2).map((state) => `tombstones:${state}`),
];

/** Counters by their names, in the order in which the script was given the names; what was never counted is 0. */
export function countersOf(names: readonly string[], values: Value | undefined): (name: string) => number {
  const found = new Map(((values ?? []) as Value[]).map((value, index) => [names[index], Number(value ?? 0)]));
  return (name) => found.get(name) ?? 0;
}

function censusRecord(now: Value | undefined, values: Value | undefined): object {
  const of = countersOf(counters, values);
  const sums: Record<string, Record<string, number>> = {};
  for (const kind of counted)
    sums[kind] = Object.fromEntries(states[kind].map((state) => [state, of(`${kind}:${state}`)]));
  const tasks = states.tasks.map((state) => {
    const messages = (messageStatesOf[state] ?? []).map((from) => of(`messages:${from}`) - of(`inbox:${from}`));
    return [state, messages.reduce((sum, count) => sum + count, of(`tombstones:${state}`))];
  });
  const { scopes, timers, messages, ...others } = sums;
  const claims = { HELD: of('messages:CLAIMED') };
  return { asOf: iso(now), scopes, claims, timers, messages, tasks: Object.fromEntries(tasks), ...others };
}

const kinds = Object.entries(states).map(([kind, names]) => [
  kind,
  record(Object.fromEntries(names.map((name) => [name, count()]))),
]);

export const censusRoute: Route = read({
  path: '/census',
  call: 'census.get',
  summary: 'Counts of everything kept, by state',
  success: { 200: record({ asOf: time(), ...Object.fromEntries(kinds) }) },
  refuses: [],
  script: 'space/census',
  args: () => ({ counters: counters.join(',') }),
  answer: ([now, values]) => ({ status: 200, body: censusRecord(now, values) }),
});
