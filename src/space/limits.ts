import type { Limits } from '../room.ts';

/** What the limits of a space are set to, by name. */
export type LimitValues = Readonly<Record<string, number>>;

/** The default of each limit, or the most that it may be. */
export function limitsAt(limits: Limits, bound: 'default' | 'max'): LimitValues {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit[bound]]));
}

/** As scripts take and reply them: `maxBacklog 1000 maxLeaseSeconds 600`. */
export function limitsText(values: Readonly<Record<string, number | 'default'>>): string {
  return Object.entries(values)
    .map((entry) => entry.join(' '))
    .join(' ');
}

/** Reads such a text. */
export function readLimits(text: string): LimitValues {
  return Object.fromEntries([...text.matchAll(/(\w+) (\d+)/g)].map(([, name, value]) => [name, Number(value)]));
}

/** The most of each that a plan may grant, of those that plans grant. */
export function grantedLimits(limits: Limits): string {
  const granted = Object.entries(limits).filter(([, { isGranted }]) => isGranted);
  return limitsText(limitsAt(Object.fromEntries(granted), 'max'));
}
