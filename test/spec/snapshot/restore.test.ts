import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { type EmbeddedRedis, startEmbedded } from '../../../src/embedded/embedded.ts';
import { connect } from '../../../src/engine/redis/connection.ts';
import { type Snapshot, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import type { MusterService } from '../../../src/service.ts';
import { expectAgreement } from '../../support/agree.ts';
import { failure, record } from '../../support/cli.ts';
import { OwnStore } from '../../support/own-store.ts';
import { type Access, call, type MusterProcess, Processes, until } from '../../support/processes.ts';
import { World } from '../../support/world.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const holder = { scopeId, holder: 'a', holderSession: 's' };
const org = 'muster:{dev}';
const limitMinor = '900000000000000000';

type Ids = Record<'mailbox' | 'budget' | 'barrier' | 'allowance' | 'pool', string>;

/** The fences that were given, whatever became of them. */
const fences: number[] = [];

/** One round of work on every primitive; some calls may be refused (a full window, a released barrier). */
async function turn(world: World, ids: Ids): Promise<void> {
  const { id: reservationId } = await world.mustPost(`/budgets/${ids.budget}/reserve`, {
    scopeId,
    holder: 'a',
    amountMinor: '70',
  });
  await world.mustPost(`/budgets/${ids.budget}/settle`, { reservationId, amountMinor: '33', workKey: randomUUID() });
  if (Math.random() < 0.5)
    await world.mustPost(`/budgets/${ids.budget}/void`, { reservationId, workKey: randomUUID() });
  await world.post(`/barriers/${ids.barrier}/arrive`, { arrivalKey: randomUUID() });
  await world.post(`/barriers/${ids.barrier}/nextEpoch`);
  await world.post(`/allowances/${ids.allowance}/consume`, { scopeId, units: 1, holder: 'a' });
  await world.post(`/allowances/${ids.allowance}/wait`, { scopeId, units: 2, holder: 'a' });
  await world.call('PUT', `/scopes/${scopeId}/notes/${Math.random() < 0.5 ? 'a' : 'b'}`, { value: randomUUID() });
  const asked = { scopeId, holder: 'a', ttlSeconds: 0 };
  const { status, body: hold } = await world.post(`/pools/${ids.pool}/acquire`, asked);
  if (status === 201) {
    fences.push(hold.fence);
    await world.mustPost(`/pool-holds/${hold.id}/release`, { token: hold.token });
  }
  const { groupId } = await world.mustPost('/task-groups', { mailboxId: ids.mailbox, condition: 'FIRST_ACCEPTED' });
  for (const taskKey of ['x', 'y']) await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey });
  const claim = await world.post(`/mailboxes/${ids.mailbox}/recv`, {
    scopeId: randomUUID(),
    holder: 'a',
    holderSession: 's',
  });
  expect(claim.status).to.equal(204);
  const { scopeId: gate } = (await world.get(`/task-groups/${groupId}`)).body;
  const { body } = await world.post(`/mailboxes/${ids.mailbox}/recv`, {
    scopeId: gate,
    holder: 'a',
    holderSession: 's',
  });
  await world.mustPost(`/messages/${body.id}/complete`, { token: body.token });
  await world.mustPost(`/task-groups/${groupId}/tasks/${body.taskId}/accept`);
}

/** Every key of the organization with its expiry and content as Redis stores it, except the epoch. */
async function contentOf(url: string): Promise<Map<string, string>> {
  const redis = (await connect(url)) as Redis;
  const keys = (await redis.keys(`${org}*`)).sort();
  const content = new Map<string, string>();
  for (const key of keys) {
    const type = await redis.type(key);
    const { epoch: _, ...fields } = type === 'hash' ? await redis.hgetall(key) : {};
    // Each server has its own order of fields and members.
    const unordered = type === 'hash' ? Object.entries(fields) : type === 'set' ? await redis.smembers(key) : null;
    const value = unordered ? JSON.stringify(unordered.sort()) : (await redis.dumpBuffer(key)).toString('hex');
    content.set(key, `${await redis.pexpiretime(key)} ${value}`);
  }
  redis.disconnect();
  return content;
}

describe('A snapshot under load on every primitive, restored elsewhere', () => {
  const processes = new Processes();
  let original: MusterProcess;
  let embedded: EmbeddedRedis | undefined;
  let restored: MusterProcess;
  let access: Access;
  let created: Snapshot;
  let file: string;
  let folder: string;
  let cursor: string;
  let ownStore: OwnStore | undefined;
  let claim: { id: string; token: string };
  let ids: Ids;
  let notes: string;
  const earlier = new Map<string, number>();
  const eventIds = new Set<string>();
  const events = async ({ url }: MusterProcess): Promise<string[]> => {
    const found: string[] = [];
    for (let at = ''; ; ) {
      const { body } = await call(url, access, `/events?limit=500${at}`);
      if (body.events.length === 0) return found;
      found.push(...body.events.map(({ eventId }: { eventId: string }) => eventId));
      at = `&cursor=${body.nextCursor}`;
    }
  };

  before(async () => {
    const DATA_DIR = await processes.folder();
    original = await processes.start({ DATA_DIR }).ready();
    const { url } = original;
    ({ access } = original);
    const world = new World({ url } as unknown as MusterService, 'dev', access.spaceId, access.apiKey);
    ids = {
      mailbox: (await world.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 100_000 })).id,
      budget: (await world.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor })).id,
      barrier: (await world.mustPost('/barriers', { scopeId, target: 5 })).id,
      allowance: (await world.mustPost('/allowances', { name: 'a', unitsLimit: 50, windowSeconds: 1 })).id,
      pool: (await world.mustPost('/pools', { name: 'p', units: 3 })).id,
    };
    const schedule = { mailboxId: ids.mailbox, scopeId, payload: 1, everySeconds: 3600 };
    for (const name of ['s', 't', 'u']) await world.mustPost('/schedules', { ...schedule, name });
    notes = (await world.mustPost('/mailboxes', { name: 'notes', mode: 'INBOX', backlogLimit: 50_000 })).id;
    const send = (n: number) => call(url, access, `/mailboxes/${notes}/messages`, { scopeId, payload: n });
    await send(-1);
    claim = (await call(url, access, `/mailboxes/${notes}/recv`, { ...holder, leaseSeconds: 600 })).body;
    cursor = (await call(url, access, '/events?limit=500')).body.nextCursor;

    const acknowledged = new Map<string, number>();
    let isOver = false;
    let next = 0;
    let turns = 0;
    const senders = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const n = next++;
        const { status, body } = await send(n);
        expect(status).to.equal(201);
        acknowledged.set(body.id, n);
      }
    });
    const workers = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        await turn(world, ids);
        turns++;
      }
    });
    await until(() => acknowledged.size > 100 && turns >= 20);
    for (const [id, n] of acknowledged) earlier.set(id, n);
    created = await record(['snapshot', 'create'], { DATA_DIR });
    file = join(DATA_DIR, 'snapshots', `${created.snapshot}.rdb`);
    const atSnapshot = acknowledged.size;
    await until(() => acknowledged.size > atSnapshot + 50);
    isOver = true;
    await Promise.all([...senders, ...workers]);
    for (const id of await events(original)) eventIds.add(id);
    expect((await original.end('SIGTERM')).status).to.equal(0);

    folder = join(await processes.folder(), 'elsewhere');
    const answer = await record(['snapshot', 'restore', file], { DATA_DIR: folder });
    expect(answer).to.deep.include({ restored: file, createdAt: created.createdAt, organizations: 1 });
    expect(answer.keys).to.be.greaterThan(100);
    // Without workers: what is counted below stands still.
    embedded = await startEmbedded({ dataDir: folder, log: () => undefined });
    restored = await processes.start({ DATA_DIR: folder, REDIS_URL: embedded.socketPath, ROLE: 'api' }).ready();
  });
  after(async () => {
    await ownStore?.stop();
    await restored?.end('SIGTERM');
    await embedded?.stop();
    await processes.clear();
  });

  it('keeps the invariants of every primitive, and goes on working', async () => {
    const store = await connect(embedded?.socketPath ?? '');
    const service = { store, url: restored.url } as unknown as MusterService;
    const there = new World(service, 'dev', access.spaceId, access.apiKey);
    await expectAgreement(there);

    const { body: budget } = await there.get(`/budgets/${ids.budget}?limit=200`);
    const sum = (name: string) =>
      budget.reservations.reduce((total: bigint, one: Record<string, string>) => total + BigInt(one[name] ?? 0), 0n);
    const { limit, reserved, settled, available } = budget.balances;
    expect(BigInt(reserved) + BigInt(settled) + BigInt(available)).to.equal(BigInt(limit));
    if (budget.nextCursor === null)
      expect([sum('remainingMinor'), sum('settledMinor')]).to.deep.equal([BigInt(reserved), BigInt(settled)]);
    const { body: barrier } = await there.get(`/barriers/${ids.barrier}`);
    expect(barrier.arrivals).to.be.within(0, 5);
    expect(barrier.state === 'RELEASED').to.equal(barrier.arrivals === 5);
    const { body: allowance } = await there.get(`/allowances/${ids.allowance}`);
    expect(allowance.usedUnits + allowance.availableUnits).to.equal(50);
    for (const group of (await there.get('/task-groups?limit=200')).body.groups) {
      const states = group.members.map((member: { state: string }) => member.state);
      expect(group.counts.members).to.equal(states.length);
      if (group.state === 'DECIDED') expect(states).to.not.include('PENDING');
    }
    await turn(there, ids);
    store.disconnect();
  });

  it('has everything acknowledged before the snapshot began, under the same API key', async () => {
    const found = new Map<string, unknown>();
    for (let at: string | null = ''; at !== null; ) {
      const { body } = await call(restored.url, access, `/mailboxes/${notes}/messages?limit=200${at}`);
      for (const { id, payload } of body.messages) found.set(id, payload);
      at = body.nextCursor && `&cursor=${body.nextCursor}`;
    }
    for (const [id, n] of earlier) expect(found.get(id)).to.equal(n);
    const done = await call(restored.url, access, `/messages/${claim.id}/complete`, { token: claim.token });
    expect(done.body).to.include({ state: 'ACKED', replay: false });
  });

  it('gives greater fences than any before, those that the snapshot does not know included', async () => {
    const last = Math.max(...fences);
    const { status, body } = await call(restored.url, access, '/pools', { name: 'new', units: 1 });
    expect(status).to.equal(201);
    const hold = await call(restored.url, access, `/pools/${body.id}/acquire`, { scopeId, holder: 'a' });
    expect(hold.body.fence).to.be.above(last);
  });

  it('answers 410 to earlier cursors, and never issues an event id again', async () => {
    const late = await call(restored.url, access, `/events?cursor=${cursor}`);
    expect([late.status, late.body.error.code]).to.deep.equal([410, 'CURSOR_EXPIRED']);
    const kept = new Set(await events(restored));
    for (let n = 0; n < 20; n++) await call(restored.url, access, '/mailboxes', { name: String(n) });
    const issued = (await events(restored)).filter((id) => !kept.has(id));
    expect(issued).to.have.length.at.least(20);
    expect(issued.filter((id) => eventIds.has(id))).to.deep.equal([]);
    const newest = [...eventIds].sort().at(-1) ?? '';
    for (const id of issued) expect(id > newest).to.equal(true);
  });

  it('is the same, key by key, in the server of REDIS_URL, which must be empty, too', async () => {
    ownStore = await OwnStore.start();
    const dataDir = await processes.folder();
    const settings = { REDIS_URL: ownStore.url, DATA_DIR: dataDir };
    const [here, there] = await Promise.all([
      record(['snapshot', 'restore', file], { DATA_DIR: dataDir }),
      record(['snapshot', 'restore', file], { ...settings, DATA_DIR: folder }),
    ]);
    // Locks of the queues may have expired in between.
    expect((await readdir(snapshotFolder(folder))).filter((name) => name.startsWith('restore-'))).to.deep.equal([]);
    for (const answer of [here, there]) expect(answer).to.include({ createdAt: created.createdAt, organizations: 1 });
    const own = await startEmbedded({ dataDir, log: () => undefined });
    const [copied, placed] = [await contentOf(ownStore.url), await contentOf(own.socketPath)];
    expect([...copied.keys()]).to.deep.equal([...placed.keys()]);
    for (const [key, content] of placed) expect(copied.get(key), key).to.equal(content);
    await own.stop();
    const { code, message } = await failure(['snapshot', 'restore', file], settings);
    expect([code, message]).to.deep.equal([
      'STORE_NOT_EMPTY',
      'the store in REDIS_URL is not empty: restore into an empty one. If it lost its data, running Muster processes have written to it since: stop them, then FLUSHDB. If an earlier restore was interrupted: FLUSHDB',
    ]);
  });
});
