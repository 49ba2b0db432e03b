import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import pino from 'pino';
import { many } from '../../src/engine/declare/record.ts';
import { copyKeys } from '../../src/jobs/snapshot/copy-keys.ts';
import { ReceivedClaim } from '../../src/primitives/mailbox/records.ts';
import { type MusterService, type ServiceOptions, startService } from '../../src/service.ts';
import { freePort, RedisServer } from '../fault/redis-server.ts';
import { emptyStore } from '../redis/empty-store.ts';
import { callArgs } from '../spec/allowance/script.ts';
import { sendMany } from '../spec/mailbox/many.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { bytesOf } from '../support/bytes.ts';
import { journalOf } from '../support/journal.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import { codeOf, World } from '../support/world.ts';

const recv = { script: 'mailbox/recv', reply: { claims: many(ReceivedClaim) } };

/** Messages that were sent, received and completed by the scripts. */
async function finishMany(queue: Queue, howMany: number): Promise<void> {
  const { world, id, scopeId } = queue;
  const { scripts } = world.service;
  const caller = { ...callArgs(world), rateClass: 'held' };
  for (let done = 0; done < howMany; done += 100) {
    await sendMany(queue, Math.min(100, howMany - done));
    const { claims } = await scripts.request(recv, world.org, {
      ...caller,
      ...{ mailboxId: id, scopeId, holder: 'h', holderSession: 's', leaseSeconds: '', max: 100 },
      ...{ tokens: randomBytes(1600).toString('hex'), isHeld: '', bytesLimit: 4e6, callName: 'message.recv' },
    });
    const result = { resultMailboxId: '', resultScopeId: '', resultWorkKey: '', result: '', tail: '' };
    await Promise.all(
      claims.map(({ id: messageId, token }) =>
        scripts.execute('mailbox/complete', world.org, {
          ...{ ...caller, callName: 'message.complete', ...result, messageId, token },
        }),
      ),
    );
  }
}

/** On the real clock and separate stores. */
describe('Packing of messages', () => {
  let store: OwnStore;
  let service: MusterService;
  let world: World;
  let queue: Queue;
  const start = (redisUrl: string, options: Partial<ServiceOptions> = {}): Promise<MusterService> =>
    startService({ redisUrl, role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }), ...options });

  before(async () => {
    store = await emptyStore();
    service = await start(store.url);
    await service.scripts.load();
  });
  after(async () => {
    await service.stop();
  });
  const begin = async (on: MusterService): Promise<void> => {
    world = await World.create({ on, limits: { maxBacklog: 10_000 } });
    queue = await Queue.create({}, world);
  };
  beforeEach(() => begin(service));

  const live = async (of = world) => (await of.service.store.keys(`${of.prefix}:message:*`)).length;
  const memory = async () => Number(/used_memory:(\d+)/.exec(await service.store.info('memory'))?.[1]);
  const messageBytes = () => bytesOf(service.store, `${world.prefix}:*essage*`);
  const pack = (of: MusterService, more: object = {}) =>
    of.packing.packMessages(world.org, world.spaceId, undefined, { sealAfterMs: 0, isAll: true, ...more });
  const packEvents = (of: MusterService, size: number) =>
    of.packing.packSpace(world.org, world.spaceId, undefined, { sealAfterMs: 0, isAll: true, size });
  const liveEvents = (of = world) => of.service.store.xlen(`${of.prefix}:events`);

  /** All messages of the mailbox as the API lists them. */
  async function listed(of = world): Promise<unknown[]> {
    const all: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await of.get(`/mailboxes/${queue.id}/messages?limit=200${cursor}`);
      all.push(...body.messages);
      if (!body.nextCursor) return all;
      cursor = `&cursor=${body.nextCursor}`;
    }
  }

  it('works in a store that is nearly full, or full, and makes room in it', async () => {
    for (const share of [0.95, 1.1]) {
      await finishMany(queue, 1_000);
      const before = await listed();
      const bytes = await messageBytes();
      await service.store.config('SET', 'maxmemory', String(Math.floor((await memory()) / share)));
      try {
        const full = await world.post('/mailboxes', { name: 'x' });
        expect(codeOf(full)).to.equal(share > 1 ? '503 STORE_UNAVAILABLE' : '201');
        await pack(service);
        expect(await live()).to.equal(0);
        expect(await messageBytes()).to.be.below(bytes - 350_000);
      } finally {
        await service.store.config('SET', 'maxmemory', '0');
      }
      expect(await listed()).to.deep.equal(before);
      await expectAgreement(world);
      await begin(service);
    }
  });

  it('leaves alone a message that has joined a group meanwhile', async () => {
    await finishMany(queue, 1);
    const [{ id, state, finishedAt }] = (await listed()) as [{ id: string; state: string; finishedAt: string }];
    const { id: groupId } = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    await world.mustPost(`/task-groups/${groupId}/join-task`, { taskId: id });
    await world.mustPost(`/task-groups/${groupId}/tasks/${id}/accept`);
    const at = Date.parse(finishedAt);
    const packWith = async (more: object) => {
      const rows = JSON.stringify([{ id, mailboxId: queue.id, state, finishedAt: at, ...more }]);
      return service.scripts.execute('mailbox/pack', world.org, {
        ...{ spaceId: world.spaceId, requestId: '', from: '', through: '0-1', first: id, last: id, count: 1 },
        ...{ digest: 'd', finishedThrough: at, rows, segment: 's' },
      });
    };
    expect(await packWith({}), 'as it was before').to.deep.equal([0]);
    expect(await packWith({ groupId })).to.deep.equal([1]);
  });

  it('takes less than 250 bytes each, with all indexes', async () => {
    const { store: redis } = service;
    const count = 1_000;
    for (let n = 0; n < count; n += 100) {
      const scope = new Queue(world, queue.id);
      await finishMany(scope, 100);
    }
    await pack(service);
    let bytes = await messageBytes();
    bytes += (await redis.memory('USAGE', `${world.prefix}:mailbox:${queue.id}:segments`, 'SAMPLES', 0)) ?? 0;
    expect(await live()).to.equal(0);
    expect(bytes / count).to.be.within(50, 200);
  });

  it('is done by workers, with what is over for so long', async () => {
    await finishMany(queue, 250);
    const before = await listed();
    await sleep(1_100);
    const worker = await start(store.url, { role: 'worker', sealAfterSeconds: 1, packsMessages: true });
    await until(async () => (await live()) <= 50);
    await worker.stop();
    // The others wait for more.
    expect(await live()).to.equal(50);
    expect(await listed()).to.deep.equal(before);
  });

  it('is held up by a message that is not over, for some hours', async () => {
    await finishMany(queue, 30);
    const waiting = await queue.sent();
    await finishMany(new Queue(world, queue.id), 30);
    await pack(service);
    expect(await live()).to.equal(31);
    await world.mustPost(`/messages/${waiting}/cancel`);
    await pack(service);
    expect(await live()).to.equal(0);
    await queue.sent();
    await finishMany(new Queue(world, queue.id), 30);
    await pack(service, { patienceMs: 0 });
    expect(await live()).to.equal(1);
    await expectAgreement(world);
  });

  it('changes nothing for calls that come meanwhile', async () => {
    const sent: string[] = [];
    const results = new Map<string, unknown>();
    const claims: { id: string; token: string }[] = [];
    const any = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];
    let isOver = false;
    const packing = (async () => {
      const others = [service, await start(store.url)];
      while (!isOver) await Promise.all(others.map((one) => pack(one, { size: 7, patienceMs: 100 })));
      await others[1]?.stop();
    })();
    const act = async (n: number): Promise<void> => {
      const kind = n % 8;
      if (kind < 2) sent.push(await queue.sent({ payload: n }));
      const claim = kind === 2 || kind === 3 ? (await queue.recv()).body : undefined;
      if (claim) {
        claims.push(claim);
        // It may have been cancelled.
        const { status, body } = await queue.act('complete', claim, { result: { payload: { n } } });
        if (status === 200) results.set(claim.token, body.taskId);
      }
      if (kind === 4) {
        const again = any(claims);
        const reply = again && (await queue.act('complete', again));
        if (again && reply && results.has(again.token))
          expect(reply.body.taskId, reply.text).to.equal(results.get(again.token));
      }
      const id = any(sent);
      if (!id) return;
      if (kind === 5) expect((await world.get(`/messages/${id}`)).status).to.equal(200);
      if (kind === 6) await world.post(`/messages/${id}/cancel`);
      if (kind === 7) await world.post(`/messages/${id}/requeue`);
    };
    // However slow packing is, some message is brought back from a segment.
    const unpacked = () => service.store.zcard(`${world.prefix}:unpackedMessages`);
    let next = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (next < 1_200 || (await unpacked()) === 0) await act(next++);
      }),
    ).finally(() => {
      isOver = true;
      return packing;
    });
    const all = (await listed()) as { id: string }[];
    expect(all.map(({ id }) => id)).to.deep.equal([...sent].sort());
    expect(await live()).to.be.below(sent.length);
    await expectAgreement(world);
  });

  it('is in what a snapshot copies, as that of the journal', async () => {
    await finishMany(queue, 225);
    await pack(service, { isAll: false });
    await packEvents(service, 200);
    await finishMany(queue, 5);
    expect(await live()).to.equal(30);
    expect(await liveEvents()).to.be.within(1, 50);
    const before = await listed();
    const events = await journalOf(world);
    const other = await OwnStore.start();
    const { store: target } = await other.admin();
    await copyKeys(service.store as Redis, target);
    const restored = await start(other.url);
    const there = new World(restored, world.org, world.spaceId, world.apiKey);
    expect(await listed(there)).to.deep.equal(before);
    expect(await journalOf(there)).to.deep.equal(events);
    await pack(restored);
    expect(await live(there)).to.equal(0);
    expect(await listed(there)).to.deep.equal(before);
    // A stream that was emptied goes on after its last id.
    await packEvents(restored, 200);
    expect(await liveEvents(there)).to.equal(0);
    await there.mustPost('/mailboxes', { name: 'later' });
    expect((await journalOf(there)).slice(0, -1)).to.deep.equal(events);
    await expectAgreement(there);
    await restored.stop();
    await other.stop();
  });

  it('has a damaged segment named, and the messages of others read', async () => {
    await finishMany(queue, 60);
    const ids = ((await listed()) as { id: string }[]).map(({ id }) => id);
    await pack(service, { size: 20 });
    const { prefix } = world;
    const [, second = ''] = await service.store.zrange(`${prefix}:messageSegments`, '0', '-1');
    await service.store.set(`${prefix}:messageSegment:${second.split(' ')[2]}`, 'garbage');
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    const fresh = await start(store.url, { log });
    const other = new World(fresh, world.org, world.spaceId, world.apiKey);
    expect((await other.get(`/messages/${ids[5]}`)).body.id).to.equal(ids[5]);
    const damaged = await other.get(`/messages/${ids[25]}`);
    expect(codeOf(damaged)).to.equal('500 MESSAGES_DAMAGED');
    expect(damaged.body.error.message).to.contain(`the messages ${ids[20]} to ${ids[39]}`);
    expect(lines.join('')).to.contain(`segment ${prefix}:messageSegment:2 of messages is damaged: its 20 messages`);
    expect((await other.get(`/messages/${ids[45]}`)).body.id).to.equal(ids[45]);
    await fresh.stop();
  });

  it('loses and doubles nothing when the store is killed at any moment while two workers pack messages and events', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'muster-packing-'));
    const redis = await new RedisServer(dir, await freePort(), { appendfsync: 'always' }).start();
    let services = await Promise.all([start(redis.url), start(redis.url)]);
    const stop = () => Promise.all(services.map((one) => one.stop()));
    await begin(services[0] as MusterService);
    const { org, spaceId, apiKey } = world;
    await finishMany(queue, 600);
    const before = await listed();
    const events = await journalOf(world);
    const left: [messages: number, events: number][] = [];
    for (const killAfterMs of [15, 40, 90, 200]) {
      const packed = services.flatMap((one) => [
        pack(one, { size: 5 }).catch(() => undefined),
        packEvents(one, 10).catch(() => undefined),
      ]);
      await sleep(killAfterMs);
      await redis.kill();
      await Promise.all(packed);
      await stop();
      await redis.start();
      services = await Promise.all([start(redis.url), start(redis.url)]);
      const there = new World(services[0] as MusterService, org, spaceId, apiKey);
      expect(await listed(there)).to.deep.equal(before);
      expect(await journalOf(there)).to.deep.equal(events);
      left.push([await live(there), await liveEvents(there)]);
    }
    for (const [kind, all] of [before, events].entries())
      expect(
        left.some((counts) => (counts[kind] ?? 0) > 0 && (counts[kind] ?? 0) < all.length),
        left.join(' '),
      ).to.equal(true);
    await expectAgreement(new World(services[0] as MusterService, org, spaceId, apiKey));
    await stop();
    await redis.stop();
    await rm(dir, { recursive: true });
  });
});
