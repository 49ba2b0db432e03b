import type { Redis } from 'ioredis';
import type { Store } from '../../engine/redis/connection.ts';
import { orUnavailable } from '../../engine/redis/failures.ts';

/** Keys in memory at a time. */
const pageSize = 200;
const isApiKey = (key: string): boolean => /^muster:\{[^}]*\}:key:/.test(key);

/** Copies every key with its expiry into an empty store, API keys last. Rejects when the signal aborts. */
export async function copyKeys(from: Redis, to: Store, signal?: AbortSignal): Promise<void> {
  const last: string[] = [];
  let cursor = '0';
  do {
    signal?.throwIfAborted();
    const [next, keys] = await from.scan(cursor, 'COUNT', pageSize);
    last.push(...keys.filter(isApiKey));
    await Promise.all(keys.filter((key) => !isApiKey(key)).map((key) => copy(key, from, to)));
    cursor = next;
  } while (cursor !== '0');
  for (let start = 0; start < last.length; start += pageSize) {
    await Promise.all(last.slice(start, start + pageSize).map((key) => copy(key, from, to)));
  }
}

async function copy(key: string, from: Redis, to: Store): Promise<void> {
  const [content, expiresAt] = await Promise.all([from.dumpBuffer(key), from.pexpiretime(key)]);
  // It expired meanwhile.
  if (content === null) return;
  // REPLACE because SCAN may return a key twice; nothing else writes to this store.
  await orUnavailable(to.restore(key, Math.max(0, expiresAt), content, 'REPLACE', 'ABSTTL'));
}
