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

const dumps =
  "local all = {} for i, key in ipairs(redis.call('KEYS', ARGV[1])) do all[2 * i - 1], all[2 * i] = key, redis.call('DUMP', key) end return all";

/** The organization's current state. */
export async function takeStored({ service: { store }, org }: World): Promise<Stored> {
  const all = (await store.callBuffer('EVAL', dumps, 0, `muster:{${org}}*`)) as Buffer[];
  return new Map(all.flatMap((key, index) => (index % 2 === 0 ? [[key.toString(), all[index + 1] as Buffer]] : [])));
}

/** Resets the organization to a stored state. */
export async function putStored(world: World, stored: Stored): Promise<void> {
  const { store } = world.service;
  const found = await takeStored(world);
  await Promise.all([
    ...[...found.keys()].filter((key) => !stored.has(key)).map((key) => store.unlink(key)),
    ...[...stored].flatMap(([key, value]) =>
      found.get(key)?.equals(value) ? [] : [store.restore(key, 0, value, 'REPLACE')],
    ),
  ]);
}

/**
 * Everything an organization stores, as texts to compare: by key, without order where it has no meaning, and without fields
 * that are 0, which equals an absent one. isWanted: selects keys.
 */
export async function readStored(
  world: World,
  isWanted: (key: string) => boolean = () => true,
): Promise<Map<string, string>> {
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
  const keys = (await keysOf(world)).filter(isWanted).sort();
  const values = await Promise.all(
    keys.map(async (key) => JSON.stringify(await reads[await store.type(key)]?.(key), undefined, 1)),
  );
  return new Map(keys.map((key, index) => [key, values[index] ?? '']));
}
