import { hash } from 'node:crypto';
import type { World } from '../../support/world.ts';

/**
 * Counters of requests, including refused ones, and the day on which a key was last used: they are not effects of a
 * call.
 */
const counters = new Set(['usedRequests', 'usedRecovery', 'requestsMinute', 'usedDay', 'usedMinute', 'plain']);

/** A digest of each value that an organization stores, by key. */
export async function digests(world: World): Promise<Map<string, string>> {
  const { store } = world.service;
  const prefix = `muster:{${world.org}}`;
  const found = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, keys] = await store.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000);
    cursor = next;
    for (const key of keys) {
      const isRecord = [prefix, `${prefix}:${world.spaceId}`].includes(key) || key.startsWith(`${prefix}:key:`);
      // Reading a large hash may change its order, as Redis moves it to a larger table gradually.
      const isHash = isRecord || (await store.type(key)) === 'hash';
      const value = isHash
        ? JSON.stringify(
            Object.entries(await store.hgetall(key))
              .filter(([name]) => !(isRecord && counters.has(name)))
              .sort(),
          )
        : await store.dumpBuffer(key);
      found.set(key, value === null ? '' : hash('sha256', value));
    }
  } while (cursor !== '0');
  return found;
}

/** The keys that were added, removed or changed. */
export function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.get(key) !== after.get(key));
}
