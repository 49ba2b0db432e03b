import { type Fields, raw, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import type { Value } from '../../engine/declare/value.ts';
import { type Route, read } from '../../engine/route/route.ts';

/** Figures of a space by name: counters of its record, or gauges of a room's _gauges.lua. */
function figures(name: string, fields: Fields, route: Pick<Route, 'path' | 'call' | 'summary' | 'description'>): Route {
  const Figures = record(name, { asOf: time().named('now'), ...fields });
  return read({
    ...route,
    success: { 200: Figures.schema },
    refuses: [],
    rate: 'operator',
    script: 'space/figures',
    args: () => ({ names: Figures.wire.join() }),
    reply: { values: raw<Value[]>() },
    answer: ({ values }) => ({ status: 200, body: Figures.read(values) }),
  });
}

export const censusRoute = (fields: Fields): Route =>
  figures('Census', fields, {
    path: '/census',
    call: 'census.get',
    summary: 'Counts of everything kept, by state',
    description:
      'Every state and the number of its records, zeros included. The figures come from counters, so it costs the same ' +
      'however much is stored.',
  });

export const backlogRoute = (fields: Fields): Route =>
  figures('Backlog', fields, {
    path: '/backlog',
    call: 'backlog.get',
    summary: 'What waits to be done or delivered, and for how long the oldest has waited',
    description:
      'Messages, waiters, holds and questions that wait, pending deliveries and armed timers, with the ages of the oldest ' +
      'READY message and of the oldest waiter, for alerts.',
  });
