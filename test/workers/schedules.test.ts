import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Due } from '../../src/engine/redis/due.ts';
import { Firing } from '../../src/primitives/schedule/firing.ts';
import type { MusterService } from '../../src/service.ts';
import { expectAgreement } from '../support/agree.ts';
import { forkFile } from '../support/fork.ts';
import { isLong, many } from '../support/long.ts';
import { OwnStore } from '../support/own-store.ts';
import { Pace } from '../support/pace.ts';
import { until } from '../support/processes.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const worker = fileURLToPath(new URL('../support/worker.ts', import.meta.url));
const index = 'muster:due';
const scopeId = '0190a1b2-0000-7000-8000-000000000000';
/** Every second. */
const cron = '* * * * * *';

/** On the real clock and a separate store. */
describe('Schedules fired by workers', () => {
  let store: OwnStore;
  let service: MusterService;
  const others: { stop(): Promise<void> }[] = [];

  before(async () => {
    store = await OwnStore.start();
    service = await delivering({ redisUrl: store.url, role: 'api' });
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
    await service.store.del(index);
  });
  after(async () => {
    await service.stop();
    await store.stop();
  });

  const startWorker = async (): Promise<void> => {
    others.push(await delivering({ redisUrl: store.url, role: 'worker' }));
  };

  /** A space with a mailbox and a number of schedules. */
  async function begin(timing: object, schedules: number) {
    const world = await World.create({ on: service, limits: { maxBacklog: 100_000 } });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 100_000 });
    const fields = { mailboxId, scopeId, payload: 1, ...timing };
    const ids: string[] = [];
    for (let i = 0; i < schedules; i++) ids.push((await world.mustPost('/schedules', { name: `s${i}`, ...fields })).id);
    return { world, mailboxId, ids };
  }

  /** The workKeys of the mailbox, one for each moment that was sent. */
  const sent = async (world: World, mailboxId: string): Promise<string[]> =>
    service.store.hkeys(`${world.prefix}:mailbox:${mailboxId}:workKeys`);

  /** Expects that each moment from the first to the last was sent once or is counted as missed. */
  async function expectExactlyOnce(world: World, mailboxId: string, ids: readonly string[]): Promise<void> {
    const keys = await sent(world, mailboxId);
    const messages = await service.store.zcard(`${world.prefix}:mailbox:${mailboxId}:messages`);
    expect(messages, 'one message for each moment').to.equal(keys.length);
    for (const id of ids) {
      const { createdAt, lastAt, missed } = (await world.get(`/schedules/${id}`)).body;
      const through = Math.floor(Date.parse(lastAt) / 1000) - Math.floor(Date.parse(createdAt) / 1000);
      expect(keys.filter((key) => key.includes(id)).length + missed).to.equal(through);
    }
    await expectAgreement(world);
  }

  it('fire at their moment, once with any number of workers', async () => {
    await Promise.all([startWorker(), startWorker()]);
    const { world, mailboxId, ids } = await begin({ cron }, 2);
    await until(async () => (await sent(world, mailboxId)).length >= 4);
    for (const { createdAt, workKey } of (await world.get(`/mailboxes/${mailboxId}/messages`)).body.messages)
      expect(Date.parse(createdAt), workKey).to.be.at.least(Date.parse(workKey.slice(-24)));
    for (const id of ids) await world.call('PATCH', `/schedules/${id}`, { state: 'PAUSED' });
    await expectExactlyOnce(world, mailboxId, ids);
  });

  it('skip and repeat nothing when a worker is killed while it fires', async () => {
    const { world, mailboxId, ids } = await begin({ cron }, 40);
    const child = forkFile(worker, [store.url]);
    await once(child, 'message');
    const isFiring = (from: number) => async () => (await sent(world, mailboxId)).length > from;
    // In the middle of a round, not at its end.
    await until(isFiring(45));
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const before = (await sent(world, mailboxId)).length;
    await startWorker();
    await until(isFiring(before + 40));
    await Promise.all(ids.map((id) => world.call('PATCH', `/schedules/${id}`, { state: 'PAUSED' })));
    await expectExactlyOnce(world, mailboxId, ids);
  });

  it('are fired by the guard if a worker dies between its two steps, and by the repair if the index lost them', async () => {
    const { world, mailboxId, ids } = await begin({ everySeconds: 3600 }, 3);
    const makeDue = async (): Promise<void> => {
      const at = Date.now() - 10;
      for (const id of ids) {
        await service.store.hset(`${world.prefix}:schedule:${id}`, 'nextAt', at);
        await service.store.zadd(`${world.prefix}:nextSchedules`, at, id);
        await service.store.zadd(`muster:{${world.org}}:scheduleTimers`, at, `${world.spaceNumber}:${id}`);
      }
    };
    await makeDue();
    await service.store.del(index);
    await service.due.announce(world.org, '1');
    // It lists what is due, and dies before it fires.
    const { scripts } = service;
    const ask: typeof scripts.ask = (call, org, args) => scripts.ask(call, org, args);
    const dead = { ask, request: () => new Promise<never>(() => undefined) };
    const killed = new Due(service.store, dead as never);
    new Firing(dead as never, killed);
    void killed.takeDue();
    await until(async () => (await service.store.zscore(index, world.org)) === null);
    await until(async () => {
      await service.due.takeDue();
      return (await sent(world, mailboxId)).length === 3;
    });
    expect(await service.store.zscore(index, world.org), 'and what is next is known').not.to.equal(null);

    await makeDue();
    await service.store.del(index);
    await service.due.repair();
    expect(await sent(world, mailboxId)).to.have.length(6);
  });

  it('fire by the thousand, while calls go on', async () => {
    const perSpace = many(300, 1000);
    const spaces = many(2, 10);
    const { world, mailboxId, ids } = await begin({ cron: '*/5 * * * *', timezone: 'Europe/Berlin' }, 1);
    const worlds = [{ world, mailboxId }];
    for (let i = 1; i < spaces; i++) {
      const sibling = await world.anotherSpace({ maxBacklog: 100_000, requestsPerMinute: 100_000 });
      const mailbox = await sibling.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 100_000 });
      await sibling.mustPost('/scopes', { scopeId });
      worlds.push({ world: sibling, mailboxId: mailbox.id });
    }
    // As if each had been created, all due at the same moment.
    const at = Math.floor(Date.now() / 300_000) * 300_000;
    const one = await service.store.hgetall(`${world.prefix}:schedule:${ids[0]}`);
    for (const { world: owner, mailboxId: box } of worlds) {
      const pipeline = service.store.pipeline();
      for (let i = owner === world ? 1 : 0; i < perSpace; i++) {
        const id = `${ids[0]?.slice(0, 24)}${randomUUID().slice(24)}`;
        const record = { ...one, name: `n${i}`, mailboxId: box, nextAt: at };
        pipeline.hset(`${owner.prefix}:schedule:${id}`, record);
        pipeline.hset(`${owner.prefix}:scheduleNames`, `n${i}`, id);
        for (const list of ['schedules', `scope:${scopeId}:schedules`]) pipeline.zadd(`${owner.prefix}:${list}`, 0, id);
        pipeline.zadd(`${owner.prefix}:nextSchedules`, at, id);
        pipeline.zadd(`muster:{${owner.org}}:scheduleTimers`, at, `${owner.spaceNumber}:${id}`);
      }
      pipeline.hincrby(
        `muster:{${owner.org}}:${owner.spaceId}`,
        'schedules:ACTIVE',
        owner === world ? perSpace - 1 : perSpace,
      );
      await pipeline.exec();
    }
    const total = perSpace * spaces - 1;
    await service.store.config('RESETSTAT');
    await service.store.call('SLOWLOG', 'RESET');
    await service.store.config('SET', 'slowlog-log-slower-than', '1000');
    const pace = await Pace.begin();
    await service.due.announce(world.org, String(at));
    await startWorker();
    const fired = async (): Promise<number> => {
      const counts = worlds.map((owner) => sent(owner.world, owner.mailboxId));
      return (await Promise.all(counts)).reduce((sum, { length }) => sum + length, 0);
    };
    let longest = 0;
    while ((await fired()) < total) {
      const begun = performance.now();
      await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: 1 });
      longest = Math.max(longest, performance.now() - begun);
      await sleep(20);
    }
    if (isLong) await pace.expect(longest, 1000, 'a send meanwhile');
    // Entries are id, moment, microseconds, words, …
    const slow = (await service.store.call('SLOWLOG', 'GET', '1000')) as [number, number, number, string[]][];
    const steps = slow.filter(([, , , words]) => words[1]?.startsWith('schedule_'));
    // A step is timed in the long tests alone: next to other tests it may have to wait for a core.
    const slowest = Math.max(0, ...steps.map(([, , micros]) => micros)) / 1000;
    if (isLong) await pace.expect(slowest, 25, 'a step');
    expect(await fired()).to.equal(total);
    const lag = Number(await service.store.zcount(`muster:{${world.org}}:scheduleTimers`, '-inf', Date.now()));
    expect(lag).to.equal(0);
  });
});
