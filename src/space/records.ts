import Joi from 'joi';
import { Field, type Get, id, number, text, time } from '../declare/field.ts';
import { record } from '../declare/record.ts';

/** As operators see it; its limits and counters stand in its record under their own names. */
export const Space = record('Space', {
  spaceId: id().workedOut(),
  name: text().orNull(),
  createdAt: time(),
  /** The rate of that minute. */
  requestsMinute: number().orNull().internal(),
  usedRequests: number().orNull().internal(),
  /** In days since 1970: what `op:<call>` and uncounted are of. */
  usageDay: number().orNull().internal(),
  retainedBytes: number().orNull().internal(),
});

const dayMs = 86_400_000;
const dateForm = /^\d{4}-\d\d-\d\d$/;
export const date = () => text(dateForm);

/** Of a number of days since 1970. */
export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The number of days since 1970; NaN of what is no date. */
export function dayOf(text: string): number {
  const at = dateForm.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || dateOf(at / dayMs) !== text ? Number.NaN : at / dayMs;
}

type Calls = readonly (readonly [call: string, count: string])[];
const callsOf = (get: Get): Calls => get('calls') as unknown as Calls;
const operations = (get: Get): number => callsOf(get).reduce((sum, [, count]) => sum + Number(count), 0);

/** How often each call was made, by its name. */
const byCall = new Field<Readonly<Record<string, number>>>({
  lua: 'text',
  read: (calls) =>
    Object.fromEntries(
      (calls as unknown as Calls)
        .map(([call, count]) => [call, Number(count)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  schema: () => Joi.object().pattern(Joi.string(), number().schema),
});

/** What lib/usage counts on a day. */
export const UsageDay = record('UsageDay', {
  date: date().of((get) => dateOf(Number(get('day'))), 'day'),
  syscalls: number().of((get) => operations(get) + Number(get('uncounted')), 'uncounted'),
  operations: number().of(operations),
  byCall: byCall.named('calls'),
  retainedBytes: number().or(0),
});
