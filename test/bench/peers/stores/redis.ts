import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startEmbedded } from '../../../../src/embedded/embedded.ts';
import type { Store } from './store.ts';

/** The embedded Redis with the settings that Muster ships with, for Muster and for BullMQ alike. */
export async function startRedis(): Promise<Store> {
  const dataDir = await mkdtemp(join(tmpdir(), 'muster-peer-'));
  const { socketPath, stop } = await startEmbedded({ dataDir, log: (line) => console.error(line) });
  const redis = new Redis({ path: socketPath });
  const info = await redis.info('server');
  redis.disconnect();
  return {
    address: socketPath,
    durability: 'AOF, fsync 1 s',
    pid: Number(/^process_id:(\d+)/m.exec(info)?.[1]),
    stop: async () => {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
