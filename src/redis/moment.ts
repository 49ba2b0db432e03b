import type { Store } from './connection.ts';

/** The store's clock, in epoch milliseconds: the one that decides. */
export async function nowOf(store: Store): Promise<number> {
  const [seconds, micros] = await store.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
