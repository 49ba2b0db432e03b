import type { Store } from './connection.ts';

/** The store's clock, in epoch milliseconds: the one that decides. */
export async function nowOf(store: Store): Promise<number> {
  const [seconds, micros] = await store.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** The moment at which a script made an id (lib/id): what is named by one has no createdAt of its own. */
export function momentOfId(id: unknown): number {
  const [high = '', low = ''] = String(id).split('-', 2);
  return Number.parseInt(high + low, 16);
}

/** ISO 8601 UTC with milliseconds, from epoch milliseconds. */
export function iso(at: unknown): string {
  return new Date(Number(at)).toISOString();
}

/** The same; absent is null. */
export function isoOrNull(at: unknown): string | null {
  return at === null || at === undefined ? null : iso(at);
}
