import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { channelOf } from '../../src/primitives/space/keys.ts';
import { forkFile } from '../support/fork.ts';
import { Watching } from '../support/watching.ts';
import { World } from '../support/world.ts';

const many = 10_000;

/** The holders are a process of their own: both ends of 10,000 connections in one would need 20,000 descriptors. */
const holder = fileURLToPath(new URL('../support/hold-many.ts', import.meta.url));

let child: ChildProcess | undefined;

describe('watch at its bounds', () => {
  /** What a test that is out of time leaves running would disturb the next one. */
  let watching: Watching | undefined;
  afterEach(async () => {
    await watching?.stop();
    child?.kill();
    watching = undefined;
  });

  it('1,000 watchers with random disconnects over 4,000 events: every filter exact, in order', async function () {
    this.timeout(900_000);
    const world = await World.create({ limits: { maxBacklog: 1_000_000 } });
    await world.service.store.hset(`muster:{${world.org}}:${world.spaceId}`, 'requestsPerMinute', '1000000000');
    watching = await Watching.start(world, { watchers: 1_000, events: 4_000, disconnects: 0.05 });
    await watching.produce();
    await watching.finish();
  });

  it('10,000 held watches cost memory only, and all wake from one write', async function () {
    this.timeout(120_000);
    const world = await World.create();
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    const before = process.memoryUsage().rss;
    const path = `/v1/spaces/${world.spaceId}/watch?cursor=${nextCursor}&waitSeconds=30&types=budget.created`;
    const answers = await hold(world, path, 'budget.created', () => world.service.feeds.size);
    const bytes = (process.memoryUsage().rss - before) / many;
    const channel = channelOf(world.org, world.spaceId);
    expect(await world.service.store.call('PUBSUB', 'SHARDNUMSUB', channel)).to.deep.equal([channel, 1]);

    const share = await idleShare();

    const answered = once(answers, 'message');
    await world.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '1' });
    expect((await answered)[0]).to.equal(many);
    expect(world.service.feeds.size).to.equal(0);
    console.log(`      ${Math.round(bytes)} bytes each, ${(share * 100).toFixed(1)} % of a processor while idle`);
    expect(share).to.be.below(0.02);
  });

  it('10,000 held reads cost memory only and no Redis call, and all are answered by one look', async function () {
    this.timeout(120_000);
    const world = await World.create();
    await world.service.store.hset(`muster:{${world.org}}:${world.spaceId}`, 'requestsPerMinute', '1000000000');
    const calls = async () =>
      Number(/cmdstat_fcall:calls=(\d+)/.exec(await world.service.store.info('commandstats'))?.[1]);
    const { id } = await world.mustPost('/barriers', { scopeId: randomUUID(), target: 1 });
    const before = process.memoryUsage().rss;
    const path = `/v1/spaces/${world.spaceId}/barriers/${id}?waitSeconds=30`;
    const answers = await hold(world, path, '"state":"RELEASED"', () => world.service.wake.reads);
    const bytes = (process.memoryUsage().rss - before) / many;
    let idle = 0;
    for (let now = await calls(); now !== idle; now = await calls()) idle = now;
    const share = await idleShare();
    expect((await calls()) - idle, 'calls while nothing happens').to.equal(0);

    const answered = once(answers, 'message');
    await world.mustPost(`/barriers/${id}/arrive`, { arrivalKey: 'a' });
    expect((await answered)[0]).to.equal(many);
    expect((await calls()) - idle, 'the arrival, and one look').to.equal(2);
    expect(world.service.wake.size).to.equal(0);
    console.log(`      ${Math.round(bytes)} bytes each, ${(share * 100).toFixed(1)} % of a processor while idle`);
    expect(share).to.be.below(0.02);
  });
});

/** Holds as many as there are to be, in a process of its own, which tells when all were answered with a text. */
async function hold(world: World, path: string, awaited: string, held: () => number): Promise<ChildProcess> {
  const holding = forkFile(holder, [world.url, path, world.apiKey, awaited, String(many)]);
  child = holding;
  while (held() < many) await setTimeout(20);
  return holding;
}

/** The share of a processor that this process uses for three seconds. */
async function idleShare(): Promise<number> {
  const cpu = process.cpuUsage();
  const idle = performance.now();
  await setTimeout(3_000);
  const used = process.cpuUsage(cpu);
  return (used.user + used.system) / 1000 / (performance.now() - idle);
}
