import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { membersOf } from '../../src/engine/redis/organizations.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { Team } from '../spec/group/team.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { readCommands } from '../support/commands.ts';
import { api, World } from '../support/world.ts';
import { emptyStore } from './empty-store.ts';

const sweep = { spaceId: '', requestId: '' };

describe('On a large store,', () => {
  it('the view of a run reads few more ids than it returns, however many its scopes have', async () => {
    const queue = await Queue.create({ backlogLimit: 100_000 });
    const { world } = queue;
    const teams = await Promise.all(Array.from({ length: 20 }, () => Team.create({}, queue)));
    const send = (team: Team) =>
      world.mustPost(`/mailboxes/${queue.id}/messages`, { scopeId: team.gate, payload: 1 }) as Promise<{ id: string }>;
    const sent: { id: string }[] = [];
    // Each scope's messages are newer than those of the scopes before it.
    for (const team of teams) sent.push(...(await Promise.all(Array.from({ length: 12 }, () => send(team)))));
    let body: { messages: { id: string }[] } = { messages: [] };
    const commands = await readCommands(world.service.store, async () => {
      body = (await world.get(`/ops/runs/${queue.scopeId}`)).body;
    });
    expect(body.messages.map(({ id }) => id)).to.deep.equal(
      sent
        .map(({ id }) => id)
        .sort()
        .reverse()
        .slice(0, 200),
    );
    const pages = commands.filter(
      ([name, key = '']) => name === 'ZRANGE' && key.includes(world.org) && key.endsWith(':messages'),
    );
    const idsRead = pages.reduce((sum, [, , from, to]) => sum + Number(to) - Number(from) + 1, 0);
    expect(idsRead).to.be.within(200, 600);
  });

  it('the age of the oldest message costs the same, however many queues have one of the same second', async () => {
    const world = await World.create();
    const mailboxes = await Promise.all([1, 2, 3].map(() => world.mustPost('/mailboxes', { name: 'jobs' })));
    const depths = async (): Promise<number> => {
      const args = { ...sweep, counters: 'messages:READY', ages: 'oldestReadyAt', maxSpaces: 50 };
      const work = () => world.service.scripts.execute('space/depths', world.org, args);
      return (await readCommands(world.service.store, work)).filter(
        ([name, key = '']) => name === 'ZRANGE' && key.includes(world.org),
      ).length;
    };
    const send = ({ id }: { id: string }) =>
      world.mustPost(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 1 });
    await world.at(Date.now());
    await send(mailboxes[0]);
    const one = await depths();
    for (let i = 0; i < 5; i++) await Promise.all(mailboxes.map(send));
    expect(await depths()).to.equal(one);
  });

  it('a list filtered by state reads only the state of other groups', async () => {
    const queue = await Queue.create();
    const read = async (): Promise<number> => {
      const list = () => queue.world.get('/task-groups?state=DECIDED');
      return (await readCommands(queue.world.service.store, list)).filter(
        ([name, key = '']) => name === 'HMGET' && key.includes(queue.world.org),
      ).length;
    };
    const none = await read();
    for (let i = 0; i < 5; i++) await Team.create({}, queue);
    expect(await read()).to.equal(none);
  });

  it('a sweep leaves a group with too many members to the next one', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const now = Date.now();
    await world.at(now);
    const later = (ms: number) => new Date(now + ms).toISOString();
    const team = await Team.create({ deadline: later(2000) }, queue);
    await team.submitted(4);
    for (let i = 0; i < 2; i++) await queue.send({ deadline: later(1000) });
    await world.at(now + 3000);
    const step = async () => {
      const [, , more] = await world.service.scripts.execute('timer/sweep', world.org, { ...sweep, maxChanges: 3 });
      return [more, await team.eventCount('message.expired'), await team.eventCount('message.cancelled')];
    };
    expect(await step()).to.deep.equal([1, 2, 0]);
    expect(await step(), 'as the first of its step it is decided whatever its size').to.deep.equal([0, 2, 4]);
    expect(await team.view()).to.include({ outcome: 'EXPIRED', decidedAt: later(2000) });
  });

  it('a sweep without due timers writes nothing', async () => {
    const queue = await Queue.create();
    const { store, scripts } = queue.world.service;
    await queue.send({ deadline: new Date(Date.now() + 3_600_000).toISOString() });
    for (const org of [queue.world.org, (await World.create()).org]) {
      await scripts.execute('timer/sweep', org, { ...sweep, maxChanges: 3 });
      const again = () => scripts.execute('timer/sweep', org, { ...sweep, maxChanges: 3 });
      const commands = (await readCommands(store, again)).filter(([, key = '']) => key.startsWith(`muster:{${org}}`));
      expect(commands.filter(([name = '']) => /SET|ADD|REM|INCR|DEL/.test(name))).to.deep.equal([]);
    }
  });

  it('a set of any size is read in pages', async () => {
    const { store } = await api();
    const key = `muster:{${randomUUID()}}:set`;
    const members = Array.from({ length: 2500 }, () => randomUUID());
    await store.sadd(key, ...members);
    const commands = await readCommands(store, async () => {
      expect([...(await membersOf(store, key))]).to.have.members(members);
    });
    await store.del(key);
    expect(commands.filter(([name, asked]) => name === 'SSCAN' && asked === key)).to.have.length.within(3, 6);
  });
});

describe('In a store with the settings of the embedded one,', () => {
  let service: MusterService;
  before(async () => {
    const { url } = await emptyStore();
    const log = pino({ level: 'silent' });
    service = await startService({ redisUrl: url, role: 'api', host: '127.0.0.1', port: 0, log });
  });
  after(() => service.stop());

  it('a task of a group stays compact with its result; the records that every call reads are tables', async () => {
    const team = await Team.create({}, await Queue.create({}, await World.create({ on: service })));
    const { world } = team.queue;
    await team.submit('a', { input: { file: 'a.txt' } });
    const claim = await team.queue.claim();
    await team.queue.act('complete', claim, { result: { payload: { sha: '9f86d08' } } });
    const prefix = `muster:{${world.org}}`;
    const records = [prefix, `${prefix}:${world.spaceId}`, `${world.prefix}:message:${claim.id}`];
    const encodings = await Promise.all(records.map((key) => service.store.object('ENCODING', key)));
    expect(encodings).to.deep.equal(['hashtable', 'hashtable', 'listpack']);
  });

  it('messages, reservations, waiters and idempotency records take a bounded number of bytes', async () => {
    const world = await World.create({ on: service });
    /** Bytes of all keys of the organization: of idempotency records, and of the rest. */
    const footprint = async (): Promise<[replays: number, rest: number]> => {
      const names = await service.store.keys(`muster:{${world.org}}*`);
      const sum = async (some: string[]): Promise<number> => {
        const sizes = await Promise.all(some.map((name) => service.store.memory('USAGE', name, 'SAMPLES', 0)));
        return sizes.reduce<number>((all, size) => all + Number(size), 0);
      };
      const replays = names.filter((name) => name.includes(':idempotency:'));
      return [await sum(replays), await sum(names.filter((name) => !replays.includes(name)))];
    };
    const holder = { scopeId: randomUUID(), holder: 'agent-1' };
    const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: '999999' };
    const allowance = { name: 'a', unitsLimit: 1, windowSeconds: 31_536_000 };
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const { id: budgetId } = await world.mustPost('/budgets', budget);
    const { id: allowanceId } = await world.mustPost('/allowances', allowance);
    await world.mustPost(`/allowances/${allowanceId}/consume`, { ...holder, units: 1 });
    // More than Redis keeps in a compact encoding.
    const many = 200;
    const payload = 'x'.repeat(98);
    for (const [path, body, maxBytes] of [
      [`/mailboxes/${mailboxId}/messages`, { scopeId: holder.scopeId, payload }, 1300],
      [`/mailboxes/${mailboxId}/messages`, { scopeId: holder.scopeId, payload, delaySeconds: 600 }, 1300],
      [`/budgets/${budgetId}/reserve`, { ...holder, amountMinor: '1000' }, 1000],
      [`/allowances/${allowanceId}/wait`, { ...holder, units: 1, ttlSeconds: 3600 }, 1400],
    ] as const) {
      const before = await footprint();
      await Promise.all(Array.from({ length: many }, () => world.mustPost(path, body)));
      const [replays, rest] = (await footprint()).map((bytes, i) => (bytes - (before[i] ?? 0)) / many);
      // Valkey 9 keeps a key and its end within its value: 94 bytes.
      expect(replays, `a replay of ${path}`).to.be.within(75, 300);
      expect(rest, path).to.be.within(maxBytes / 2, maxBytes);
    }
  });
});
