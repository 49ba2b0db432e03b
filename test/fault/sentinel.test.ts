import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';
import { Lab } from './lab.ts';
import { missing } from './missing.ts';
import { TcpProxy } from './proxy.ts';
import { freePort, RedisServer } from './redis-server.ts';
import { underLoad } from './under-load.ts';
import type { Workload } from './workload.ts';

/** A replica beside its master lags by no more than this. */
const marginMs = 1_000;
const delayMs = 1_500;
/**
 * How long a master with min-replicas-max-lag 1 goes on without its replica: it counts the lag in whole seconds, and looks
 * once a second.
 */
const refusesMs = 4_000;

describe('A replica that Sentinel promotes', function () {
  this.timeout(120_000);
  let lab: Lab;
  let link: TcpProxy;
  let replica: RedisServer;
  let sentinel: ChildProcess;

  beforeEach(async () => {
    lab = await Lab.start();
    link = await TcpProxy.to(lab.redis.port);
    replica = await new RedisServer(await lab.folder(), await freePort(), {}).start();
    await replica.link.replicaof('127.0.0.1', link.port);
    await until(async () => /master_link_status:up/.test(await replica.link.info('replication')));
    const port = await freePort();
    const file = join(await lab.folder(), 'sentinel.conf');
    // Its failover-timeout is also how long it leaves a replica alone that follows another address than its own.
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `sentinel monitor store 127.0.0.1 ${lab.redis.port} 1`,
      'sentinel down-after-milliseconds store 1000',
      'sentinel failover-timeout store 180000',
    ];
    await writeFile(file, lines.join('\n'));
    const { command, env } = await findRedisServer({ log: () => undefined });
    sentinel = spawn(command, [file, '--sentinel'], { env, stdio: 'ignore' });
    endAtExit(sentinel);
    await once(sentinel, 'spawn');
    lab.redisUrl = `redis+sentinel://127.0.0.1:${port}/store`;
    await lab.open();
    // Sentinel hears of the replica from the master, every ten seconds.
    await sleep(12_000);
  });
  afterEach(async () => {
    sentinel?.kill('SIGKILL');
    await replica?.stop();
    await link?.stop();
    await lab?.stop();
  });

  const promoted = async (): Promise<number> => {
    const at = performance.now();
    await lab.redis.kill();
    // With the machine goes what was under way.
    link.cut();
    await until(async () => /role:master/.test(await replica.link.info('replication')));
    console.log(`      promoted after ${((performance.now() - at) / 1000).toFixed(1)} s`);
    await sleep(4_000);
    return at;
  };
  const report = (found: string, load: Workload): void =>
    console.log(`      ${found}; longest without an answer ${(load.caller.longestMs / 1000).toFixed(1)} s`);

  it('kill -9 of the master loses at most what was not replicated, and only whole calls', async () => {
    const act = () => sleep(5_000).then(promoted);
    await underLoad(lab, 'promotion by Sentinel', act, async (load, at) => {
      report((await missing(lab, load, at, marginMs)).text, load);
    });
  });

  it('a replica that lags loses what was answered within its lag, and only whole calls', async () => {
    const act = async (): Promise<number> => {
      link.delayMs = delayMs;
      // Not much later: of the clients, one after another rests until a lease is over.
      await sleep(delayMs + 250);
      return promoted();
    };
    await underLoad(lab, 'promotion of a replica that lags', act, async (load, at) => {
      const { count, text } = await missing(lab, load, at, delayMs + marginMs);
      report(text, load);
      expect(count).to.be.above(0);
    });
  });

  it('with min-replicas-to-write calls are 503 while it is not heard from, and only what was answered before is lost', async () => {
    const status = async (): Promise<number> => (await fetch(`${lab.apis[0]?.url}/readyz`)).status;
    const refused = async (): Promise<number> => {
      const from = performance.now();
      link.mode = 'hole';
      await until(async () => (await status()) === 503);
      const ms = performance.now() - from;
      console.log(`      503 after ${(ms / 1000).toFixed(1)} s`);
      expect(ms).to.be.below(refusesMs);
      return performance.now();
    };
    await lab.redis.link.config('SET', 'min-replicas-to-write', '1', 'min-replicas-max-lag', '1');
    const act = async (): Promise<{ refusedAt: number; at: number }> => {
      await sleep(2_000);
      await refused();
      await sleep(1_000);
      link.heal();
      await until(async () => (await status()) === 200);
      await sleep(2_000);
      const refusedAt = await refused();
      await sleep(3_000);
      return { refusedAt, at: await promoted() };
    };
    await underLoad(lab, 'min-replicas-to-write', act, async (load, { refusedAt, at }) => {
      const during = load.history.filter(
        ({ outcome, invokedAt, respondedAt }) => outcome !== 'unknown' && invokedAt > refusedAt && respondedAt < at,
      );
      expect(during).to.deep.equal([]);
      report((await missing(lab, load, refusedAt, refusesMs)).text, load);
    });
  });
});
