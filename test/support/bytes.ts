import type { Store } from '../../src/engine/redis/connection.ts';

/**
 * The bytes that the keys of a pattern take by the store's own account. `used_memory` says less: from Redis 7.4 on it counts
 * what Lua has not collected yet.
 */
export async function bytesOf(store: Store, pattern: string): Promise<number> {
  const names = await store.keys(pattern);
  const sizes = await Promise.all(names.map((name) => store.memory('USAGE', name, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}
