/** The time at which a script made an id (lib/id), so a record with such an id need not store createdAt. */
export function momentOfId(id: unknown): number {
  const [high = '', low = ''] = String(id).split('-', 2);
  return Number.parseInt(high + low, 16);
}

/** ISO 8601 UTC with milliseconds, from epoch milliseconds. */
export function iso(at: unknown): string {
  return new Date(Number(at)).toISOString();
}

/** Whole seconds since a time; null if there is none. */
export function secondsSince(at: unknown, now: unknown): number | null {
  return at === null ? null : Math.max(0, Math.floor((Number(now) - Number(at)) / 1000));
}
