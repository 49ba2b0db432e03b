/** Starts a server of each kind that tests and benchmarks start, sends their pids, and ends as its argument says. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { startRedis } from '../bench/peers/stores/redis.ts';
import { freePort, RedisServer } from '../fault/redis-server.ts';
import { TestCluster } from '../support/cluster.ts';
import { MusterProcess } from '../support/processes.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'server-'));

async function pidOf(address: string): Promise<number> {
  const redis = new Redis(address);
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}

const dataDir = folder();
const [embedded, benchmark, own, cluster, product] = await Promise.all([
  startEmbedded({ dataDir: folder(), log: () => undefined }),
  startRedis(),
  new RedisServer(folder(), await freePort(), {}).start(),
  TestCluster.form(1),
  new MusterProcess({ DATA_DIR: dataDir }, []).ready(),
]);
const addresses = [embedded.socketPath, benchmark.address, own.url, cluster.url, join(dataDir, 'redis.sock')];
process.send?.([product.pid, ...(await Promise.all(addresses.map(pidOf)))]);
if (process.argv[2] === 'throw')
  setTimeout(() => {
    throw new Error('as it is meant to');
  });
if (process.argv[2] === 'exit') setTimeout(() => process.exit(3));
