import type { World } from './world.ts';

/** Everything an organization stores, by key, as DUMP replies. */
export type Stored = ReadonlyMap<string, Buffer>;

async function keysOf({ service: { store }, org }: World): Promise<string[]> {
  const keys: string[] = [];
  let cursor = '0';
  do {
    const [next, some] = await store.scan(cursor, 'MATCH', `muster:{${org}}*`, 'COUNT', 10_000);
    keys.push(...some);
    cursor = next;
  } while (cursor !== '0');
  return [...new Set(keys)];
}

/** The organization's current state. */
export async function takeStored(world: World): Promise<Stored> {
  const { store } = world.service;
  const keys = await keysOf(world);
  const values = await Promise.all(keys.map((key) => store.dumpBuffer(key)));
  return new Map(keys.flatMap((key, index) => (values[index] ? [[key, values[index]]] : [])));
}

/** Resets the organization to a stored state. */
export async function putStored(world: World, stored: Stored): Promise<void> {
  const { store } = world.service;
  const gone = (await keysOf(world)).filter((key) => !stored.has(key));
  await Promise.all([
    ...gone.map((key) => store.unlink(key)),
    ...[...stored].map(([key, value]) => store.restore(key, 0, value, 'REPLACE')),
  ]);
}

/**
 * Everything an organization stores, as texts to compare: by key, without order where it has no meaning, and without fields
 * that are 0, which equals an absent one.
 */
export async function readStored(world: World): Promise<Map<string, string>> {
  const { store } = world.service;
  const reads: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => store.get(key),
    hash: async (key) =>
      Object.entries(await store.hgetall(key))
        .filter(([, value]) => value !== '0')
        .map((entry) => entry.join('\t'))
        .sort(),
    set: async (key) => (await store.smembers(key)).sort(),
    zset: (key) => store.zrange(key, '0', '-1', 'WITHSCORES'),
    list: (key) => store.lrange(key, 0, -1),
    stream: (key) => store.xrange(key, '-', '+'),
  };
  const keys = (await keysOf(world)).sort();
  const values = await Promise.all(
    keys.map(async (key) => JSON.stringify(await reads[await store.type(key)]?.(key), undefined, 1)),
  );
  return new Map(keys.map((key, index) => [key, values[index] ?? '']));
}
