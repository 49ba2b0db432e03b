import Joi from 'joi';
import { Field, type Get, number } from '../declare/field.ts';

type Calls = readonly (readonly [call: string, count: string])[];
const callsOf = (get: Get): Calls => get('calls') as unknown as Calls;
export const operations = (get: Get): number => callsOf(get).reduce((sum, [, count]) => sum + Number(count), 0);

/** How often each call was made, by its name. */
export const byCall = new Field<Readonly<Record<string, number>>>({
  lua: 'text',
  read: (calls) =>
    Object.fromEntries(
      (calls as unknown as Calls)
        .map(([call, count]) => [call, Number(count)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  schema: () => Joi.object().pattern(Joi.string(), number().schema),
});
