import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Reply, World } from '../../support/world.ts';
import { callArgs, queueMany } from './script.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;
const scopeId = randomUUID();

async function newAllowance(unitsLimit: number): Promise<{ world: World; path: string }> {
  const world = await World.create();
  await world.at(start);
  const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit, windowSeconds: 60 });
  return { world, path: `/allowances/${id}` };
}

describe('200 parallel consumes and waits', () => {
  /** The waiters of the scope, as its run view shows them. */
  async function shown(world: World): Promise<Map<string, Reply['body']>> {
    const { waiters } = (await world.get(`/ops/runs/${scopeId}`)).body;
    return new Map(waiters.map((one: Reply['body']) => [one.id, one]));
  }

  it('grant exactly unitsLimit per window, in arrival order', async () => {
    const { world, path } = await newAllowance(40);
    const body = { scopeId, units: 1, holder: 'agent', ttlSeconds: 3600 };
    const { ttlSeconds, ...consume } = body;
    const call = (_: unknown, i: number): Promise<Reply> =>
      i % 2 === 0 ? world.post(`${path}/consume`, consume) : world.post(`${path}/wait`, { ...consume, ttlSeconds });
    const replies = await Promise.all(Array.from({ length: 200 }, call));

    const consumed = replies.filter((reply, i) => i % 2 === 0 && reply.status === 201);
    const waits = replies.filter((_, i) => i % 2 === 1).map((reply) => reply.body);
    const queued = waits.filter(({ state }) => state === 'WAITING').sort((a, b) => a.position - b.position);
    expect(consumed.length + 100 - queued.length).to.equal(40);
    expect(queued.map(({ position }) => position)).to.deep.equal(queued.map((_, i) => i + 1));
    for (const reply of replies)
      if (reply.status !== 201) expect(reply.body.error.code).to.equal('ALLOWANCE_EXHAUSTED');

    for (let window = 1; (window - 1) * 40 < queued.length; window++) {
      await world.at(start + window * 60_000);
      const late = await Promise.all(Array.from({ length: 50 }, () => world.post(`${path}/consume`, consume)));
      const views = await shown(world);
      const granted = Math.min(queued.length, window * 40);
      expect(queued.map(({ id }) => views.get(id).state)).to.deep.equal(
        queued.map((_, i) => (i < granted ? 'GRANTED' : 'WAITING')),
        `window ${window}`,
      );
      const left = window * 40 - granted;
      expect(late.filter(({ status }) => status === 201).length).to.equal(
        granted < queued.length ? 0 : Math.min(left, 50),
      );
    }
  });

  it('keep the order when units differ: nobody is granted before an earlier waiter', async () => {
    const { world, path } = await newAllowance(7);
    await world.mustPost(`${path}/consume`, { scopeId, units: 7, holder: 'first' });
    const waits = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        world.mustPost(`${path}/wait`, { scopeId, units: 1 + (i % 7), holder: 'agent', ttlSeconds: 3600 }),
      ),
    );
    const inOrder = waits.sort((a, b) => a.position - b.position);
    await world.at(start + 58 * 60_000);
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    const found = await shown(world);
    const views = inOrder.map(({ id }) => found.get(id));
    const grants = views.filter(({ state }) => state === 'GRANTED');
    expect(views.slice(0, grants.length)).to.deep.equal(grants);
    const perWindow = new Map<string, number>();
    for (const { grantedAt, units } of grants) perWindow.set(grantedAt, (perWindow.get(grantedAt) ?? 0) + units);
    expect([...perWindow.keys()]).to.deep.equal([...perWindow.keys()].sort());
    expect(perWindow.size).to.equal(58);
    expect(Math.max(...perWindow.values())).to.be.at.most(7);
  });
});

describe('12 heads cancelled at the same moment', () => {
  it('let in the waiters behind them, more than one step can grant, and no call fails', async () => {
    const world = await World.create();
    await world.at(start);
    const heads: string[] = [];
    const paths: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id } = await world.mustPost('/allowances', { name: `calls ${i}`, unitsLimit: 100, windowSeconds: 60 });
      paths.push(`/allowances/${id}`);
      await world.mustPost(`/allowances/${id}/consume`, { scopeId, units: 40, holder: 'first' });
      heads.push((await world.mustPost(`/allowances/${id}/wait`, { scopeId, units: 100, holder: 'head' })).id);
      await queueMany(world, id, 60, 3600);
    }
    const replies = await Promise.all(heads.map((id) => world.post(`/allowance-waiters/${id}/cancel`)));
    expect(replies.map(({ status }) => status)).to.deep.equal(heads.map(() => 200));
    await world.mustPost('/barriers', { scopeId, target: 1 });
    for (const path of paths) expect((await world.get(path)).body).to.include({ usedUnits: 100, waiting: 0 });
  });
});

describe('the waiter list', () => {
  it('is rebuilt in batches when dead entries outnumber live ones, and keeps its order', async () => {
    const { world, path } = await newAllowance(1);
    const { store } = world.service;
    const prefix = `${world.prefix}:allowance:${path.split('/')[2]}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 1, holder: 'first' });
    await queueMany(world, path.split('/')[2] ?? '', 600, 3600);
    const ids = await store.lrange(`${prefix}:queue`, '0', '-1');
    const kept = ids.filter((_, i) => i % 20 === 0);
    for (const id of ids) {
      if (kept.includes(id)) continue;
      await world.service.scripts.execute('allowance/cancelWaiter', world.org, { ...callArgs(world), waiterId: id });
      const [living, entries] = await Promise.all([store.zcard(`${prefix}:live`), store.llen(`${prefix}:queue`)]);
      expect(entries).to.be.at.most(2 * living + 110);
    }
    expect(await store.zrange(`${prefix}:live`, '0', '-1')).to.deep.equal(kept);
    for (const [i, id] of kept.entries()) {
      expect((await world.get(`/allowance-waiters/${id}`)).body.position).to.equal(1);
      await world.at(start + (i + 1) * 60_000);
      await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
      expect((await world.get(`/allowance-waiters/${id}`)).body.state).to.equal('GRANTED');
    }
    const left = () => store.exists(`${prefix}:queue`, `${prefix}:rebuilt`, `${prefix}:live`);
    expect(await left()).to.equal(0);
    // Waiters that expire behind a head leave dead entries too; an unfinished rebuilt list goes when the head goes.
    await queueMany(world, path.split('/')[2] ?? '', 1, 3600);
    await queueMany(world, path.split('/')[2] ?? '', 150, 5);
    await world.at(start + kept.length * 60_000 + 5000);
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect(await store.zcard(`${prefix}:live`)).to.equal(1);
    expect(await store.llen(`${prefix}:queue`)).to.be.at.most(110);
    await store.rpush(`${prefix}:rebuilt`, ids[0] ?? '');
    await world.at(start + (kept.length + 1) * 60_000);
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect(await left()).to.equal(0);
  });
});
