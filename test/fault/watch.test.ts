import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { channelOf } from '../../src/space/keys.ts';
import { Watching } from '../support/watching.ts';
import { World } from '../support/world.ts';

const many = 10_000;

/** The watchers are a process of their own: both ends of 10,000 connections in one would need 20,000 descriptors. */
const holder = fileURLToPath(new URL('../support/hold-watches.ts', import.meta.url));

describe('watch at its bounds', () => {
  it('1,000 watchers with random disconnects over 10,000 events: every filter exact, in order', async function () {
    this.timeout(900_000);
    const world = await World.create({ limits: { maxBacklog: 1_000_000 } });
    await world.service.store.hset(`muster:{${world.org}}:${world.spaceId}`, 'requestsPerMinute', '1000000000');
    const watching = await Watching.start(world, { watchers: 1_000, events: 10_000, disconnects: 0.05 });
    await watching.produce();
    await watching.finish();
  });

  it('10,000 held watches cost memory only, and all wake from one write', async function () {
    this.timeout(120_000);
    const world = await World.create();
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    const before = process.memoryUsage().rss;
    const child = fork(holder, [world.url, world.spaceId, world.apiKey, nextCursor, String(many)]);
    while (world.service.feeds.size < many) await setTimeout(20);
    const bytes = (process.memoryUsage().rss - before) / many;
    const channel = channelOf(world.org, world.spaceId);
    expect(await world.service.store.call('PUBSUB', 'SHARDNUMSUB', channel)).to.deep.equal([channel, 1]);

    const cpu = process.cpuUsage();
    const idle = performance.now();
    await setTimeout(3_000);
    const used = process.cpuUsage(cpu);
    const share = (used.user + used.system) / 1000 / (performance.now() - idle);

    const answered = once(child, 'message');
    await world.made('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '1' });
    expect((await answered)[0]).to.equal(many);
    expect(world.service.feeds.size).to.equal(0);
    child.kill();
    console.log(`      ${Math.round(bytes)} bytes each, ${(share * 100).toFixed(1)} % of a processor while idle`);
    expect(share).to.be.below(0.02);
  });
});
