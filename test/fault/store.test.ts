import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { until } from '../support/processes.ts';
import { Lab } from './lab.ts';
import { again, soundUnder } from './under-load.ts';

const signal = new AbortController().signal;
const log = (): void => undefined;

describe('A store that dies, loads or is full', function () {
  this.timeout(120_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.opened();
  });
  after(() => lab.stop());

  it('kill -9 of Redis with appendfsync always, again and again: nothing acknowledged is lost', async () => {
    await soundUnder(lab, 'kill -9 of Redis, appendfsync always', async (_load, chance) => {
      const outages: [number, number][] = [];
      const times = await again(async () => {
        await sleep(500 + chance.below(1_500));
        const from = Date.now();
        await lab.redis.kill();
        await sleep(chance.below(500));
        await lab.redis.start();
        outages.push([from, Date.now() + 1_000]);
      });
      console.log(`      ${times} kills of Redis`);
      return { outages };
    });
  });

  it('while it loads its data, calls are 503 with Retry-After; then they go on', async () => {
    await soundUnder(lab, 'Redis loading', async (load) => {
      await sleep(5_000);
      const from = Date.now();
      const keys = await lab.redis.link.dbsize();
      await lab.redis.link.bgrewriteaof();
      await until(async () => /aof_rewrite_in_progress:0/.test(await lab.redis.link.info('persistence')));
      await lab.redis.kill();
      // Slowed down by itself, key by key, for about four seconds.
      const delay = String(Math.ceil(4_000_000 / keys));
      await lab.redis.spawn({ 'key-load-delay': delay, 'loading-process-events-interval-bytes': '1024' });
      const [tenant] = load.spaces;
      let loading = 0;
      const headers = { Authorization: `Bearer ${tenant?.apiKey}` };
      for (;;) {
        const answer = await fetch(`${lab.urls()[0]}/v1/spaces/${tenant?.spaceId}/census`, { headers });
        if (answer.status === 200) break;
        expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
        loading++;
        await sleep(20);
      }
      expect(loading).to.be.above(10);
      const loadedMs = Date.now() - from;
      await awaitStore(lab.redis.url, { log, signal });
      await sleep(3_000);
      console.log(
        `      ${keys} keys loaded in ${(loadedMs / 1000).toFixed(1)} s, ${loading} answers of 503 looked at`,
      );
      return { outages: [[from, from + loadedMs + 1_000]] };
    });
  });

  it('at maxmemory calls are 503, nothing half-done, and go on when there is memory again', async () => {
    await soundUnder(lab, 'Redis at maxmemory', async (_load, chance) => {
      const outages: [number, number][] = [];
      const { link } = lab.redis;
      const status = async (): Promise<number> => (await fetch(`${lab.apis[0]?.url}/readyz`)).status;
      const times = await again(async () => {
        await sleep(1_000 + chance.below(1_000));
        const from = Date.now();
        const used = Number(/used_memory:(\d+)/.exec(await link.info('memory'))?.[1]);
        await link.config('SET', 'maxmemory', String(used + chance.below(200_000)));
        await until(async () => (await status()) === 503);
        await sleep(500 + chance.below(1_000));
        await link.config('SET', 'maxmemory', '0');
        await until(async () => (await status()) === 200);
        outages.push([from, Date.now() + 500]);
      });
      console.log(`      full ${times} times`);
      return { outages };
    });
  });
});
