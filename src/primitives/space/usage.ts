import Joi from 'joi';
import { number } from '../../engine/declare/field.ts';
import { exactly, many } from '../../engine/declare/record.ts';
import { fields, says } from '../../engine/route/fields.ts';
import { type Route, read } from '../../engine/route/route.ts';
import { date, dateOf, dayOf } from './days.ts';
import { UsageDay } from './records.ts';

/** The script refuses a malformed date, so that errors come in their order of precedence. */
function dayArgument(text: string | undefined): number | string {
  if (text === undefined) return '';
  const day = dayOf(text);
  return Number.isNaN(day) ? 'malformed' : day;
}

type Day = typeof UsageDay.type;

/** Every day of the range: a day without counters has zeros and the retainedBytes of the day before. */
function everyDay(from: number, to: number, before: number, counted: readonly Day[]): Day[] {
  const known = new Map(counted.map((day) => [day.date, day]));
  const days: Day[] = [];
  for (let day = from; day <= to; day++) {
    const retainedBytes = days.at(-1)?.retainedBytes ?? before;
    days.push(known.get(dateOf(day)) ?? UsageDay.of({ day, calls: [], uncounted: 0, retainedBytes }));
  }
  return days;
}

const queryDate = (name: string, meaning: string): Joi.AnySchema<string | undefined> =>
  Joi.string()
    .allow('')
    .optional()
    .error(says({ 'string.base': `${name} must be given once` }))
    .meta({ format: 'date' })
    .description(meaning);

const firstDay = 'the first UTC day, inclusive';
const lastDay = 'the last UTC day, inclusive';

export const usageRoute: Route = read({
  path: '/usage',
  call: 'usage.get',
  rate: 'operator',
  summary: 'Operations and retained bytes of each UTC day, inclusive; the last 30 days by default',
  description:
    'Days are UTC, at most 400 in one answer. Counters are zero where nothing happened; `retainedBytes` stays. `operations` is the sum of ' +
    '`byCall`; `syscalls` also counts renewals, replays and empty receives.',
  query: fields({ from: queryDate('from', firstDay), to: queryDate('to', lastDay) }),
  success: {
    200: exactly({
      from: date().means(firstDay).schema,
      to: date().means(lastDay).schema,
      days: many(UsageDay, 400).means('an entry for each UTC day').schema,
    }),
  },
  refuses: ['INVALID_DATE_RANGE'],
  script: 'space/usage',
  args: ({ query }) => ({ fromDay: dayArgument(query.from), toDay: dayArgument(query.to) }),
  reply: { from: number(), to: number(), before: number(), days: many(UsageDay) },
  answer: ({ from, to, before, days }) => ({
    status: 200,
    body: { from: dateOf(from), to: dateOf(to), days: everyDay(from, to, before, days) },
  }),
});
