import { number } from '../../engine/declare/field.ts';
import type { Limit, Limits } from '../room.ts';

/** A limit as answers and events show it. */
export const limitField = ({ meaning, min, max, default: example }: Limit) =>
  number(min, max).means(meaning).example(example);

/** The values of a space's limits by name. */
export type LimitValues = Readonly<Record<string, number>>;

/** The default or the maximum of each limit. */
export function limitsAt(limits: Limits, bound: 'default' | 'max'): LimitValues {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit[bound]]));
}

/** Limits as scripts take and reply them: `maxBacklog 1000 maxLeaseSeconds 600`. */
export function limitsText(values: Readonly<Record<string, number | 'default'>>): string {
  return Object.entries(values)
    .map((entry) => entry.join(' '))
    .join(' ');
}

export function readLimits(text: string): LimitValues {
  return Object.fromEntries([...text.matchAll(/(\w+) (\d+)/g)].map(([, name, value]) => [name, Number(value)]));
}

/** The highest value that any plan grants, for each limit that plans grant. */
export function grantedLimits(limits: Limits): string {
  const granted = Object.entries(limits).filter(([, { isGranted }]) => isGranted);
  return limitsText(limitsAt(Object.fromEntries(granted), 'max'));
}
