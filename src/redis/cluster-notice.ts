import type { Cluster } from 'ioredis';
import type { Logger } from 'pino';
import { shardsOf } from './connection.ts';

const fullCoverage = 'cluster-require-full-coverage';

/** Says once, at the start, that the store is a cluster, what that leaves out, and what in its settings would hurt. */
export async function sayCluster(cluster: Cluster, log: Logger): Promise<void> {
  const shards = shardsOf(cluster);
  log.warn(`the store is a Redis Cluster of ${shards.length} shards: no snapshots are made, use backups of its nodes`);
  // Where a server does not tell its settings, its operator knows them.
  const settings = await Promise.allSettled(shards.map((shard) => shard.config('GET', fullCoverage)));
  const isStrict = settings.some((found) => found.status === 'fulfilled' && String(found.value).endsWith(',yes'));
  if (isStrict) log.warn(`${fullCoverage} is yes: while one shard is away, all are; set it to no on every node`);
}
