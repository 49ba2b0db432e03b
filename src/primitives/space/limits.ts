import { number } from '../../engine/declare/field.ts';
import type { Limit, Limits } from '../room.ts';

/** The meaning of a limit, with that of null if it may be unlimited. */
export const meaningOf = ({ meaning, default: preset }: Limit): string =>
  preset === null ? `${meaning}; null: unlimited` : meaning;

/** A limit as answers and events show it. */
export const limitField = (limit: Limit) => {
  const { min, max, default: preset } = limit;
  const field = number(min, max).means(meaningOf(limit));
  return preset === null ? field.orNull().example(null) : field.example(preset);
};

/** The values of a space's limits by name; null: unlimited. */
export type LimitValues = Readonly<Record<string, number | null>>;

/** The default or the maximum of each limit. */
export function limitsAt(limits: Limits, bound: 'default' | 'max'): LimitValues {
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, limit.default === null ? null : limit[bound]]),
  );
}

/** Limits as scripts take and reply them: `maxBacklog 1000 maxRetainedBytes none`. */
export function limitsText(values: Readonly<Record<string, number | null | 'default'>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value ?? 'none'}`)
    .join(' ');
}

export function readLimits(text: string): LimitValues {
  return Object.fromEntries(
    [...text.matchAll(/(\w+) (\d+|none)/g)].map(([, name, value]) => [name, value === 'none' ? null : Number(value)]),
  );
}

/** The highest value that any plan grants, for each limit that plans grant. */
export function grantedLimits(limits: Limits): string {
  const granted = Object.entries(limits).filter(([, { isGranted }]) => isGranted);
  return limitsText(Object.fromEntries(granted.map(([name, { max }]) => [name, max])));
}
