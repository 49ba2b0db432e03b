import { hash } from 'node:crypto';
import type { World } from '../../support/world.ts';

/** Requests are counted, refused ones by their shape too: these say nothing of what a call has changed. */
const counters = new Set(['usedRequests', 'usedRecovery', 'requestsMinute']);

/** Everything that an organization keeps, by key, as a digest of each value. */
export async function digests(world: World): Promise<Map<string, string>> {
  const { store } = world.service;
  const own = `muster:{${world.org}}`;
  const found = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, keys] = await store.scan(cursor, 'MATCH', `${own}*`, 'COUNT', 1000);
    cursor = next;
    for (const key of keys) {
      const isRecord = key === own || key === `${own}:${world.spaceId}`;
      // A large hash may change its order when it is read: Redis moves it to a larger table little by little.
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

/** The keys whose value is another than before, or that have come or gone. */
export function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.get(key) !== after.get(key));
}
