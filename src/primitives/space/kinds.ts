import { countsByName } from '../../engine/declare/field.ts';
import type { Get } from '../../engine/declare/value.ts';

type Calls = readonly (readonly [call: string, count: string])[];
const callsOf = (get: Get): Calls => get('calls') as unknown as Calls;
export const operations = (get: Get): number => callsOf(get).reduce((sum, [, count]) => sum + Number(count), 0);

/** How often each call was made, by its name. */
export const byCall = countsByName();
