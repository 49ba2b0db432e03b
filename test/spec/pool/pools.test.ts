import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

describe('a pool', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });
  const create = (body: object) => world.post('/pools', { units: 1, ...body });
  const update = ({ id }: { readonly id: string }, body: object) => world.call('PATCH', `/pools/${id}`, body);
  const remove = ({ id }: { readonly id: string }) => world.call('DELETE', `/pools/${id}`);
  const countOf = async () => (await world.eventTypes()).length;

  it('has a name that is unique in the space; with unique the existing one is answered', async () => {
    const { status, body } = await create({ name: 'deploys', units: 3 });
    expect(status).to.equal(201);
    const { id, createdAt } = body;
    const record = { id, name: 'deploys', units: 3, heldUnits: 0, availableUnits: 3, waiting: 0, createdAt };
    expect(body).to.deep.equal(record);
    expect(codeOf(await create({ name: 'deploys' }))).to.equal('409 POOL_EXISTS');
    const known = await create({ name: 'deploys', unique: true });
    expect([known.status, known.body]).to.deep.equal([200, record]);
    expect((await create({ name: 'other', unique: true })).status).to.equal(201);
    expect((await world.get('/pools?name=deploys')).body).to.deep.equal({ pools: [record], nextCursor: null });
    const names = (await world.get('/pools')).body.pools.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal(['other', 'deploys']);
    expect(codeOf(await create({ name: 'x', units: 1_000_001 }))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await world.get(`/pools/${randomUUID()}`))).to.equal('404 POOL_NOT_FOUND');
  });

  it('is renamed; its old name is free then', async () => {
    const { body: pool } = await create({ name: 'a' });
    await create({ name: 'b' });
    expect(codeOf(await update(pool, { name: 'b' }))).to.equal('409 POOL_EXISTS');
    const before = await countOf();
    expect((await update(pool, { name: 'a', units: 1 })).status).to.equal(200);
    expect((await update(pool, {})).status).to.equal(200);
    expect(await countOf(), 'nothing changed').to.equal(before);
    expect((await update(pool, { name: 'c' })).body.name).to.equal('c');
    expect((await create({ name: 'a' })).status).to.equal(201);
    expect((await world.get('/pools?name=c')).body.pools[0].id).to.equal(pool.id);
  });

  it('with more units grants those who fit now, in the same step', async () => {
    const pool = await TestPool.create(world);
    await pool.acquire();
    const waiting = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
    const { body } = await update(pool, { units: 3 });
    expect(body).to.include({ units: 3, heldUnits: 3, availableUnits: 0, waiting: 1 });
    expect(await pool.states(...waiting)).to.deep.equal(['HELD', 'HELD', 'WAITING']);
  });

  it('with fewer units takes nothing away, and grants nothing until it fits', async () => {
    const pool = await TestPool.create(world, 3);
    const held = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
    const waiting = await pool.acquire();
    const { body } = await update(pool, { units: 1 });
    expect(body).to.include({ units: 1, heldUnits: 3, availableUnits: 0, waiting: 1 });
    for (const one of held.slice(0, 2)) await pool.release(one);
    expect(await pool.states(waiting)).to.deep.equal(['WAITING']);
    await pool.release(held[2] ?? waiting);
    expect(await pool.states(waiting)).to.deep.equal(['HELD']);
  });

  it('never gets fewer units than a hold waits for', async () => {
    const pool = await TestPool.create(world, 5);
    await pool.acquire({ scopeId: randomUUID() });
    await pool.acquire({ units: 5 });
    const refused = await update(pool, { units: 4 });
    expect(codeOf(refused)).to.equal('409 LIMIT_BELOW_USE');
    expect(refused.body.error.message).to.equal('units must be at least 5: a hold waits for as many units');
    const other = new TestPool(world, pool.id);
    await other.acquire({ units: 5 });
    await world.mustPost(`/scopes/${pool.scopeId}/cancel`);
    expect(codeOf(await update(pool, { units: 4 }))).to.equal('409 LIMIT_BELOW_USE');
    await world.mustPost(`/scopes/${other.scopeId}/cancel`);
    expect((await update(pool, { units: 4 })).status).to.equal(200);
  });

  it('is deleted once nothing is held and nobody waits; its holds stay readable', async () => {
    const pool = await TestPool.create(world, 1, 'gone');
    const held = await pool.acquire();
    const waiting = await pool.acquire();
    expect(codeOf(await remove(pool))).to.equal('409 POOL_NOT_EMPTY');
    await world.mustPost(`/pool-holds/${waiting.id}/cancel`);
    await pool.release(held);
    expect((await remove(pool)).status).to.equal(204);
    expect(codeOf(await remove(pool))).to.equal('404 POOL_NOT_FOUND');
    expect(codeOf(await pool.ask())).to.equal('404 POOL_NOT_FOUND');
    expect(await pool.states(held, waiting)).to.deep.equal(['RELEASED', 'CANCELLED']);
    expect((await create({ name: 'gone' })).status).to.equal(201);
  });

  it('grants at most a hundred in a step, and the others right after it; nobody overtakes meanwhile', async () => {
    const pool = await TestPool.create(world, 200);
    const all = await pool.acquire({ units: 200 });
    const waiting = await Promise.all(Array.from({ length: 150 }, () => pool.acquire()));
    await pool.release(all);
    expect(await pool.view()).to.include({ heldUnits: 100, waiting: 50 });
    // Any call that changes something finds the rest due, and has it done first.
    expect((await pool.ask({ ttlSeconds: 0 })).body.state).to.equal('HELD');
    expect(await pool.view()).to.include({ heldUnits: 151, waiting: 0 });
    expect(new Set(await pool.states(...waiting))).to.deep.equal(new Set(['HELD']));
  });

  it('is shown with its holds: by pool, run and those below it, holder and state', async () => {
    const [pool, other] = [await TestPool.create(world), await TestPool.create(world, 5)];
    const child = randomUUID();
    await world.mustPost('/scopes', { scopeId: child, parentScopeId: pool.scopeId });
    const [a, b] = [await pool.acquire({ holder: 'a' }), await pool.acquire({ holder: 'b' })];
    const below = await other.acquire({ scopeId: child, holder: 'a' });
    const apart = await other.acquire({ holder: 'a' });
    const found = async (query: string) =>
      (await world.get(`/pool-holds?${query}`)).body.holds.map(({ id }: { id: string }) => id);
    expect(await found('')).to.deep.equal([apart.id, below.id, b.id, a.id]);
    expect(await found(`poolId=${pool.id}`)).to.deep.equal([b.id, a.id]);
    expect(await found(`scopeId=${pool.scopeId}`)).to.deep.equal([below.id, b.id, a.id]);
    expect(await found('holder=a&state=HELD')).to.deep.equal([apart.id, below.id, a.id]);
    expect(await found('state=WAITING,LAPSED')).to.deep.equal([b.id]);
    const { body } = await world.get('/pool-holds?holder=a&limit=2');
    const next = await world.get(`/pool-holds?holder=a&limit=2&cursor=${body.nextCursor}`);
    expect(next.body.holds.map(({ id }: { id: string }) => id)).to.deep.equal([a.id]);
    expect(next.body.nextCursor).to.equal(null);
  });

  it('tells of itself in events', async () => {
    const { body: pool } = await create({ name: 'a' });
    await update(pool, { units: 2 });
    await remove(pool);
    const { body } = await world.get('/watch?aggregate=pool');
    expect(body.events.map(({ type, payload }: { type: string; payload: object }) => [type, payload])).to.deep.equal([
      ['pool.created', { poolId: pool.id, units: 1 }],
      ['pool.updated', { poolId: pool.id, units: 2 }],
      ['pool.deleted', { poolId: pool.id, units: 2, actor: await world.keyId() }],
    ]);
  });
});
