import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

describe('an acquire that would close a circle', () => {
  let world: World;
  let a: TestPool;
  let b: TestPool;
  let c: TestPool;
  beforeEach(async () => {
    world = await World.create();
    [a, b, c] = [
      await TestPool.create(world, 1, 'a'),
      await TestPool.create(world, 1, 'b'),
      await TestPool.create(world, 1, 'c'),
    ];
  });
  /** All in one run. */
  const as = (holder: string, holderSession?: string) => ({ scopeId: a.scopeId, holder, holderSession });
  const ann = () => as('ann', '1');
  const bob = () => as('bob', '1');

  it('is refused with DEADLOCK, and the circle in words', async () => {
    await a.acquire(ann());
    await b.acquire(bob());
    expect((await b.acquire(ann())).state).to.equal('WAITING');
    const refused = await a.ask(bob());
    expect(codeOf(refused)).to.equal('409 DEADLOCK');
    expect(refused.body.error.message).to.equal(
      'waiting would never end, since these wait for one another: bob (1) would wait for a, which ann (1) holds; ' +
        'ann (1) waits for b, which bob (1) holds. Release what you hold first',
    );
    expect(codeOf(await a.ask({ ...bob(), ttlSeconds: 0 })), 'it would not wait').to.equal('429 POOL_EXHAUSTED');
  });

  it('is found over several pools, and where a holder wants more of what it holds itself', async () => {
    await a.acquire(ann());
    await b.acquire(bob());
    await c.acquire(as('eve', '1'));
    await b.acquire(ann());
    await c.acquire(bob());
    const refused = await a.ask(as('eve', '1'));
    expect(codeOf(refused)).to.equal('409 DEADLOCK');
    expect(refused.body.error.message).to.include('eve (1) would wait for a, which ann (1) holds; ann (1) waits for b');
    const own = await a.ask(ann());
    expect(codeOf(own)).to.equal('409 DEADLOCK');
    expect(own.body.error.message).to.include('ann (1) would wait for a, which ann (1) holds');
  });

  it('is explained also where a holder in the circle is still ahead in the queue', async () => {
    await a.acquire(as('cat', '1'));
    await b.acquire(bob());
    await a.acquire(ann());
    await b.acquire(ann());
    const refused = await a.ask(bob());
    expect(codeOf(refused)).to.equal('409 DEADLOCK');
    expect(refused.body.error.message).to.include(
      'bob (1) would wait for a, which ann (1) holds; ann (1) waits for b, which bob (1) holds.',
    );
  });

  it('is allowed if the circle runs through a cancelled run, even before all of that has ended', async () => {
    await a.acquire(ann());
    await b.acquire({ ...bob(), scopeId: b.scopeId });
    await b.acquire(ann());
    const barriers = Array.from({ length: 100 }, () => ({ call: 'barrier.create', scopeId: a.scopeId, target: 1 }));
    for (let n = 0; n < 6; n++) await world.mustPost('/batch', { calls: barriers });
    const cancel = await world.mustPost(`/scopes/${a.scopeId}/cancel`);
    expect(cancel.done).to.equal(false);
    expect((await a.ask({ ...bob(), scopeId: b.scopeId })).status).to.equal(201);
  });

  it('is found through those who stand before it in the queue', async () => {
    const two = await TestPool.create(world, 2);
    await a.acquire(ann());
    await two.acquire(bob());
    // Waits before ann in the queue of two, for more than bob leaves.
    await two.acquire({ ...as('eve', '1'), units: 2 });
    await a.acquire(bob());
    const refused = await two.ask(ann());
    expect(codeOf(refused)).to.equal('409 DEADLOCK');
  });

  it('is none where those in between wait for nothing, or units suffice', async () => {
    await a.acquire(ann());
    await b.acquire(bob());
    expect((await a.ask(bob())).body.state, 'ann waits for nothing').to.equal('WAITING');
    const two = await TestPool.create(world, 2);
    await two.acquire(ann());
    await two.acquire(as('eve', '1'));
    await b.release(await b.acquire({ ...as('tim', '9'), ttlSeconds: 5 }));
    // Eve waits for nothing, so one unit of two will be free.
    expect((await two.ask(bob())).body.state).to.equal('WAITING');
  });

  it('is looked for only with a session, and tells runs and sessions apart', async () => {
    await a.acquire(ann());
    await b.acquire(bob());
    await b.acquire(ann());
    expect((await a.ask(as('bob'))).body.state, 'no session').to.equal('WAITING');
    expect((await a.ask(as('bob', '2'))).body.state, 'another session').to.equal('WAITING');
    expect((await a.ask({ ...bob(), scopeId: b.scopeId })).body.state, 'another run').to.equal('WAITING');
  });

  it('is the same in all scopes of a run', async () => {
    const child = c.scopeId;
    await world.mustPost('/scopes', { scopeId: child, parentScopeId: a.scopeId });
    await a.acquire(ann());
    await b.acquire(bob());
    await b.acquire({ ...ann(), scopeId: child });
    expect(codeOf(await a.ask({ ...bob(), scopeId: child }))).to.equal('409 DEADLOCK');
  });

  it('is not looked for among more than 200 holds', async () => {
    const wide = await TestPool.create(world, 250);
    await Promise.all(Array.from({ length: 200 }, () => wide.acquire()));
    await wide.acquire({ ...ann(), units: 50 });
    await b.acquire(bob());
    await b.acquire(ann());
    expect((await wide.ask(bob())).body.state).to.equal('WAITING');
  });
});
