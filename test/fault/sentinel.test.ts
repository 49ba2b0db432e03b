import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findRedisServer } from '../../src/redis/server-binary.ts';
import { until } from '../support/processes.ts';
import { Lab } from './lab.ts';
import { missing } from './missing.ts';
import { freePort, RedisServer } from './redis-server.ts';
import { underLoad } from './under-load.ts';

/** A replica beside its master lags by no more than this. */
const lagMs = 1_000;

describe('A replica that Sentinel promotes', function () {
  this.timeout(120_000);
  let lab: Lab;
  let replica: RedisServer;
  let sentinel: ChildProcess;

  before(async () => {
    lab = await Lab.start();
    replica = await new RedisServer(await lab.folder(), await freePort(), {}).start();
    await replica.link.replicaof('127.0.0.1', lab.redis.port);
    await until(async () => /master_link_status:up/.test(await replica.link.info('replication')));
    const port = await freePort();
    const file = join(await lab.folder(), 'sentinel.conf');
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `sentinel monitor store 127.0.0.1 ${lab.redis.port} 1`,
      'sentinel down-after-milliseconds store 1000',
      'sentinel failover-timeout store 5000',
    ];
    await writeFile(file, lines.join('\n'));
    const { command, env } = await findRedisServer({ log: () => undefined });
    sentinel = spawn(command, [file, '--sentinel'], { env, stdio: 'ignore' });
    await once(sentinel, 'spawn');
    lab.redisUrl = `redis+sentinel://127.0.0.1:${port}/store`;
    await lab.open();
  });
  after(async () => {
    sentinel?.kill('SIGKILL');
    await replica?.stop();
    await lab?.stop();
  });

  it('kill -9 of the master loses at most what was not replicated, and only whole calls', async () => {
    const act = async (): Promise<number> => {
      // Sentinel hears of the replica from the master, every ten seconds.
      await sleep(12_000);
      const at = performance.now();
      await lab.redis.kill();
      await until(async () => /role:master/.test(await replica.link.info('replication')));
      console.log(`      promoted after ${((performance.now() - at) / 1000).toFixed(1)} s`);
      await sleep(4_000);
      return at;
    };
    await underLoad(lab, 'promotion by Sentinel', act, async (load, at) => {
      const found = await missing(lab, load, at, lagMs);
      console.log(`      ${found}; longest without an answer ${(load.caller.longestMs / 1000).toFixed(1)} s`);
    });
  });
});
