import type { Logger } from 'pino';
import { type Store, shardsOf } from './cluster.ts';
import { within } from './failures.ts';

/** A store slower than this accepts no calls either. */
const timeoutMs = 2_000;

export class EvictingStore extends Error {}

/**
 * Refuses a store that may evict keys, and warns once of one that keeps no log. A store that cannot be read at the moment, or
 * denies INFO, passes.
 *
 * @throws EvictingStore
 */
export async function checkDurability(store: Store, allowsEviction: boolean, log: Logger): Promise<void> {
  const reading = Promise.all(shardsOf(store).map((node) => node.info()));
  const infos = await within(timeoutMs, reading).catch(() => []);
  for (const info of infos) {
    const field = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const policy = field('maxmemory_policy');
    const evicts = Number(field('maxmemory')) > 0 && policy !== 'noeviction' && policy !== '';
    if (evicts && !allowsEviction)
      throw new EvictingStore(
        `the store evicts keys when its memory is full (maxmemory-policy ${policy}), and would lose work silently: ` +
          'set maxmemory-policy noeviction, or ALLOW_EVICTION=true to start on it all the same',
      );
  }
  if (infos.some((info) => /^aof_enabled:0\r?$/m.test(info)))
    log.warn('the store keeps no log (appendonly no): if it ends, it loses all since its last dump');
}
