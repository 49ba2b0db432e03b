import Joi from 'joi';
import type { Reply, Value } from '../declare/value.ts';
import { fields } from '../http/fields.ts';
import { read } from '../http/legacy.ts';
import { count, record } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { says } from '../http/says.ts';

const dayMs = 86_400_000;
const form = /^\d{4}-\d\d-\d\d$/;

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** A date's number of days since 1970; the script says that a malformed one is wrong, in its turn. */
function dayOf(date: string | undefined): number | string {
  if (date === undefined) return '';
  const at = form.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) || dateOf(at / dayMs) !== date ? 'malformed' : at / dayMs;
}

/** The calls of one day: `op:<call>`, `uncounted` and `retainedBytes` as they are stored, in a flat list. */
function dayRecord(date: string, stored: readonly Value[], retainedBytes: number): object {
  const calls: [string, number][] = [];
  let syscalls = 0;
  for (let i = 0; i + 1 < stored.length; i += 2) {
    const name = String(stored[i]);
    if (name === 'retainedBytes') continue;
    syscalls += Number(stored[i + 1]);
    if (name !== 'uncounted') calls.push([name.slice('op:'.length), Number(stored[i + 1])]);
  }
  const operations = calls.reduce((sum, [, count]) => sum + count, 0);
  const byCall = Object.fromEntries(calls.sort(([a], [b]) => (a < b ? -1 : 1)));
  return { date, syscalls, operations, byCall, retainedBytes };
}

/** Every day of the range: a day without counters has zeros, and keeps the retainedBytes of the day before. */
function usageRecord([from, to, before, rows]: Reply): object {
  const known = new Map((rows as [number, Value[]][]).map(([day, stored]) => [day, stored]));
  const days: object[] = [];
  let retainedBytes = Number(before);
  for (let day = Number(from); day <= Number(to); day++) {
    const stored = known.get(day) ?? [];
    const bytes = stored[stored.indexOf('retainedBytes') + 1];
    if (stored.length > 0) retainedBytes = Number(bytes);
    days.push(dayRecord(dateOf(day), stored, retainedBytes));
  }
  return { from: dateOf(Number(from)), to: dateOf(Number(to)), days };
}

const date = () => Joi.string().pattern(form);
const queryDate = (name: string) =>
  Joi.string()
    .allow('')
    .optional()
    .error(says({ 'string.base': `${name} must be given once` }))
    .meta({ format: 'date' });

export const usageRoute: Route = read<{ from?: string; to?: string }>({
  path: '/usage',
  call: 'usage.get',
  summary: 'Operations and retained bytes of each UTC day, inclusive; the last 30 days by default',
  query: fields({ from: queryDate('from'), to: queryDate('to') }),
  success: {
    200: record({
      from: date(),
      to: date(),
      days: Joi.array()
        .items(
          record({
            date: date(),
            syscalls: count(),
            operations: count(),
            byCall: Joi.object().pattern(Joi.string(), count()),
            retainedBytes: count(),
          }),
        )
        .max(400),
    }),
  },
  refuses: ['INVALID_DATE_RANGE'],
  script: 'space/usage',
  args: ({ query }) => ({ fromDay: dayOf(query.from), toDay: dayOf(query.to) }),
  answer: (reply) => ({ status: 200, body: usageRecord(reply) }),
});
