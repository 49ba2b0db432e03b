import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Lab } from './lab.ts';
import { TcpProxy } from './proxy.ts';
import { again, soundUnder } from './under-load.ts';

describe('Connections that break', function () {
  this.timeout(120_000);
  let lab: Lab;
  let toRedis: TcpProxy;
  const toApis: TcpProxy[] = [];
  before(async () => {
    lab = await Lab.start();
    toRedis = await TcpProxy.to(lab.redis.port);
    lab.redisUrl = `redis://127.0.0.1:${toRedis.port}`;
    await lab.open();
    for (const { url } of lab.apis) toApis.push(await TcpProxy.to(Number(new URL(url).port)));
    lab.urls = () => toApis.map(({ port }) => `http://127.0.0.1:${port}`);
  });
  after(async () => {
    await lab.stop();
    for (const proxy of [toRedis, ...toApis]) await proxy.stop();
  });

  it('SCRIPT FLUSH, FUNCTION FLUSH and CLIENT KILL, again and again', async () => {
    await soundUnder(lab, 'flushes and CLIENT KILL', async (_load, chance) => {
      const { link } = lab.redis;
      const acts = [
        () => link.script('FLUSH'),
        () => link.function('FLUSH'),
        () => link.call('CLIENT', 'KILL', 'TYPE', 'normal'),
        () => link.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
      ];
      const times = await again(async () => {
        await sleep(50 + chance.below(200));
        await chance.of(acts)();
      });
      console.log(`      ${times} flushes and kills`);
      return {};
    });
  });

  it('cut, delayed, half-closed and silent, between clients and API and between API and Redis', async () => {
    await soundUnder(lab, 'broken connections', async (_load, chance) => {
      const outages: [number, number][] = [];
      const times = await again(async () => {
        await sleep(100 + chance.below(300));
        const proxy = chance.of([toRedis, toRedis, ...toApis]);
        const from = Date.now();
        const acts = [
          () => proxy.cut(),
          () => proxy.halfClose(chance.of(['near', 'far'])),
          () => {
            proxy.delayMs = 50 + chance.below(200);
          },
          () => {
            proxy.mode = chance.of(['mute', 'hole', 'refuse']);
          },
        ];
        chance.of(acts)();
        await sleep(chance.below(1_000));
        proxy.heal();
        // A connection that was refused is tried again within a second.
        if (proxy === toRedis) outages.push([from, Date.now() + 1_000]);
      });
      console.log(`      ${times} faults of the network`);
      return { outages };
    });
  });

  it('a Redis that says nothing any more is 503 after five seconds, not a call that hangs', async () => {
    toRedis.mode = 'hole';
    const [{ spaceId, apiKey }] = lab.tenants as [(typeof lab.tenants)[number]];
    const begun = performance.now();
    const answer = await fetch(`${lab.urls()[0]}/v1/spaces/${spaceId}/census`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    const seconds = (performance.now() - begun) / 1000;
    toRedis.heal();
    expect(answer.status).to.equal(503);
    expect(seconds).to.be.within(4, 8);
    console.log(`      503 after ${seconds.toFixed(1)} s`);
  });
});
