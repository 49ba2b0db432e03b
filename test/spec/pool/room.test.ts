import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

describe('acquiring without waiting', () => {
  it('is refused for want of units, not of room in the queue, although the queue is full', async () => {
    const world = await World.create();
    await world.call('PUT', '/limits', { maxPendingWaiters: 1 });
    const pool = await TestPool.create(world);
    await pool.acquire();
    await pool.acquire();
    expect(codeOf(await pool.ask())).to.equal('409 WAITERS_FULL');
    expect(codeOf(await pool.ask({ ttlSeconds: 0 }))).to.equal('429 POOL_EXHAUSTED');
    const free = await TestPool.create(world);
    expect((await free.ask({ ttlSeconds: 0 })).body.state).to.equal('HELD');
  });
});

describe('a deleted pool', () => {
  it('is not served any more by a timer that was to look again for agents', async () => {
    const world = await World.create({ plan: 'enterprise', figures: { agents: '1' } });
    const start = Date.now();
    await world.at(start);
    const [pool, other] = [await TestPool.create(world), await TestPool.create(world)];
    const held = await other.acquire();
    const waiting = await pool.acquire();
    expect(waiting.state).to.equal('WAITING');
    await world.mustPost(`/pool-holds/${waiting.id}/cancel`);
    expect((await world.call('DELETE', `/pools/${pool.id}`)).status).to.equal(204);
    await pool.passTo(start + 1000);
    const { store } = world.service;
    expect(await store.exists(`${world.prefix}:pool:${pool.id}`)).to.equal(0);
    expect(await pool.states(held, waiting)).to.deep.equal(['HELD', 'CANCELLED']);
    await expectAgreement(world);
  });
});
