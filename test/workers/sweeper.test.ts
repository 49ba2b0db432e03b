import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import type { Reply } from '../../src/engine/declare/value.ts';
import { Due } from '../../src/engine/redis/due.ts';
import { randomTail } from '../../src/engine/route/args.ts';
import { apiKeyDigest } from '../../src/engine/route/caller.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { readCommands } from '../support/commands.ts';
import { many } from '../support/long.ts';
import { OwnStore } from '../support/own-store.ts';
import { World } from '../support/world.ts';

const index = 'muster:due';

/** On the real clock and a separate store. */
describe('The sweeper', () => {
  let store: OwnStore;
  let service: MusterService;
  /** Ends the waits of a test that has timed out. */
  let isOver: AbortController;
  const start = (role: 'api' | 'all'): Promise<MusterService> =>
    startService({ redisUrl: store.url, role, host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) });

  before(async () => {
    store = await OwnStore.start();
  });
  after(async () => {
    await store.stop();
  });
  beforeEach(() => {
    isOver = new AbortController();
  });
  afterEach(async () => {
    isOver.abort();
    await service.stop();
  });

  /** Sends through the script itself, with a deadline `inMs` from now. */
  async function send(world: World, mailboxId: string, inMs: number): Promise<string> {
    const args = {
      apiKeyDigest: apiKeyDigest(world.apiKey),
      permission: 'coordination_write',
      rateClass: 'ordinary',
      callName: 'message.send',
      spaceId: world.spaceId,
      requestId: 'r',
      ...{ idempotencyDigest: '', fingerprint: '', sweptThrough: '', openedMessages: '' },
      ...{
        mailboxId,
        scopeId: randomUUID(),
        payload: '1',
        workKey: '',
        delaySeconds: '',
        maxAttempts: '',
        prerequisites: '',
      },
    };
    const deadline = Date.now() + inMs;
    const reply: Reply = await world.service.scripts.execute('mailbox/send', world.org, {
      ...args,
      deadline,
      tail: randomTail(),
    });
    const wake = String(reply[0]).split(',')[1];
    if (wake) await world.service.due.announce(world.org, wake);
    return String(reply[1]);
  }
  const stateOf = (world: World, id: string) => world.service.store.hget(`${world.prefix}:message:${id}`, 'state');
  const worldOn = async () => {
    const world = await World.create({ on: service });
    return { world, mailboxId: (await world.mustPost('/mailboxes', { name: 'jobs' })).id as string };
  };
  async function until(holds: () => Promise<boolean>): Promise<void> {
    const { signal } = isOver;
    while (!(await holds())) await sleep(5, undefined, { signal });
  }

  it('fires a due timer without any call', async () => {
    service = await start('all');
    const { world, mailboxId } = await worldOn();
    const deadline = Date.now() + 3_000;
    const body = { scopeId: randomUUID(), payload: 1, deadline: new Date(deadline).toISOString() };
    const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, body);
    await until(async () => (await stateOf(world, id)) === 'EXPIRED');
    expect(Date.now(), 'not before').to.be.at.least(deadline);
    expect((await world.eventTypes()).at(-1)).to.equal('message.expired');
    expect(await world.service.store.zrange(index, '0', '-1')).to.deep.equal([]);
  });

  it('wakes a held receive when a lease ends', async () => {
    service = await start('all');
    const { world, mailboxId } = await worldOn();
    const recv = { scopeId: randomUUID(), holder: 'h', holderSession: 's' };
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: recv.scopeId, payload: 1 });
    const first = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { ...recv, leaseSeconds: 5 });
    const second = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { ...recv, waitSeconds: 10 });
    expect(second).to.include({ id: first.id, attempt: 2 });
    const late = Date.parse(second.claimedAt) - Date.parse(first.leaseExpiresAt);
    expect(late).to.be.at.least(0);
  });

  /** Each has a hundred timers. */
  const organizations = many(20, 100);

  it('spends nearly nothing on thousands of armed timers until they are due, then fires all of them', async () => {
    service = await start('all');
    const worlds = await Promise.all(Array.from({ length: organizations }, worldOn));
    const begin = Date.now();
    for (let i = 0; i < 100; i++) {
      await Promise.all(worlds.map(({ world, mailboxId }) => send(world, mailboxId, 120_000 - (Date.now() - begin))));
    }
    // At most one repair over all organizations: nothing per timer.
    const idle = await readCommands(service.store, () => sleep(1000));
    expect(idle.length).to.be.below(20 * organizations);
    // All of them fall due now; none has been read yet.
    const now = Date.now() + 200;
    const pipeline = service.store.pipeline();
    for (const { world } of worlds) {
      const timers = `muster:{${world.org}}:timers`;
      for (const member of await service.store.zrange(timers, '0', '-1')) {
        pipeline.zadd(timers, now, member);
        pipeline.hset(`${world.prefix}:message:${member.split(':').at(-1)}`, 'deadline', now);
      }
      pipeline.hset(`muster:{${world.org}}`, 'nextDue', now);
    }
    await pipeline.exec();
    await Promise.all(worlds.map(({ world }) => service.due.announce(world.org, String(now))));
    // Timers of earlier tests are further ahead; a guard stays until its organization is swept.
    while ((await service.store.zcount(index, '-inf', now + 10_000)) > 0) await sleep(20);
    const expired = await Promise.all(
      worlds.map(({ world }) => service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'messages:EXPIRED')),
    );
    expect(expired.map(Number)).to.deep.equal(worlds.map(() => 100));
  });

  it('loses nothing if killed between index and script: its guard is swept later', async () => {
    service = await start('api');
    const { world, mailboxId } = await worldOn();
    await service.store.del(index);
    const id = await send(world, mailboxId, 1_000);
    await until(async () => Date.now() > Number((await service.store.zscore(index, world.org)) ?? 0));
    // It is killed before it runs the script: the index has the guard, but not the organization.
    const dead = { ask: () => new Promise<never>(() => undefined) };
    const killed = new Due(service.store, dead as never);
    killed.takeDue();
    await until(async () => (await service.store.zscore(index, world.org)) === null);
    expect(await service.store.zrange(index, '0', '-1')).to.deep.equal([`!${world.org}`]);
    expect(await stateOf(world, id)).to.equal('READY');
    const guard = Number(await service.store.zscore(index, `!${world.org}`));
    expect(guard, 'soon').to.be.at.most(Date.now() + 2_000);
    await until(async () => {
      await service.due.takeDue();
      return (await stateOf(world, id)) === 'EXPIRED';
    });
    expect(await service.store.zrange(index, '0', '-1')).to.deep.equal([]);
  });

  it('does not let an organization with much to do delay others', async () => {
    service = await start('api');
    const { store } = service;
    const swept: string[] = [];
    const busy: ((failure?: Error) => void)[] = [];
    const ask = async ({ script }: { script: string }, org: string): Promise<object> => {
      if (org === 'busy')
        await new Promise<void>((resolve, reject) => busy.push((error) => (error ? reject(error) : resolve())));
      if (script === 'timer/sweep') swept.push(org);
      return { now: 1, nextDue: null, more: false, changes: 0 };
    };
    const due = new Due(store, { ask } as never);
    await store.zadd(index, 0, 'busy');
    await due.takeDue();
    await store.zadd(index, 0, 'quiet');
    await due.takeDue();
    expect(swept).to.deep.equal(['quiet']);
    expect(await store.zrange(index, '0', '-1')).to.deep.equal(['!busy']);
    for (const end of busy.splice(0)) end();
    await until(async () => (await store.zcard(index)) === 0);
    expect(swept).to.include('busy');
    await store.zadd(index, 0, 'busy');
    await due.takeDue();
    for (const end of busy.splice(0)) end(new Error('a damaged record'));
    await sleep(10);
    expect(await due.takeDue().catch(({ message }) => message)).to.equal('a damaged record');
    await store.del(index);
  });

  it('adds to the index what it lacks in a periodic repair', async () => {
    service = await start('api');
    const { world, mailboxId } = await worldOn();
    const due = await send(world, mailboxId, 1_000);
    const sent = Date.now();
    await send(world, mailboxId, 60_000);
    const now = Date.now();
    await service.store.del(index);
    await until(async () => Date.now() > now + 1_000);
    await service.due.repair();
    expect(await stateOf(world, due)).to.equal('EXPIRED');
    const next = Number(await service.store.zscore(index, world.org));
    expect(next, 'and the next due moment is told').to.be.within(sent + 60_000, now + 60_000);
  });

  it('finds all timers announced by a process that ends', async () => {
    service = await start('api');
    await service.due.announce('ending', '2');
    await service.store.call('CLIENT', 'PAUSE', '200', 'WRITE');
    const announced = service.due.announce('ending', '1').then(
      () => 'told',
      (error: Error) => error.message,
    );
    await service.stop();
    expect(await announced).to.equal('told');
    service = await start('api');
    await service.due.announce('ending', '3');
    expect(await service.store.zscore(index, 'ending'), 'the earliest of all').to.equal('1');
    await service.store.zrem(index, 'ending');
  });

  it('does not let an organization that cannot be swept delay others', async () => {
    service = await start('api');
    const { world, mailboxId } = await worldOn();
    const broken = Array.from({ length: 20 }, (_, i) => `broken-${i}`);
    await service.store.del(index);
    for (const org of broken) {
      await service.store.set(`muster:{${org}}:timers`, 'not a sorted set');
      await service.store.zadd(index, 1, org);
    }
    const id = await send(world, mailboxId, 1_000);
    const now = Date.now();
    await until(async () => Date.now() > now + 1_000);
    const failure = await service.due.takeDue().catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(await stateOf(world, id)).to.equal('EXPIRED');
    for (const org of broken) await service.store.del(`muster:{${org}}:timers`, `muster:{${org}}`);
  });
});
