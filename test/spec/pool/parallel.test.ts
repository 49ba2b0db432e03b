import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { type Acquired, TestPool } from './holds.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;

describe('200 parallel acquires', () => {
  it('hold no more than there is, in order of arrival, each with a greater fence', async () => {
    const world = await World.create();
    const pool = await TestPool.create(world, 7);
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, i) => pool.acquire({ units: 1 + (i % 3), holderSession: `s-${i}` })),
    );
    const waiting = all
      .filter(({ state }) => state === 'WAITING')
      .sort((a, b) => Number(a.position) - Number(b.position));
    expect(waiting.map(({ position }) => position)).to.deep.equal(waiting.map((_, i) => i + 1));
    let held = all.filter(({ state }) => state === 'HELD');
    const fences = held.map(({ fence }) => Number(fence)).sort((a, b) => a - b);
    const order = waiting.map(({ id }) => id);
    while (held.length > 0) {
      const { heldUnits, units } = await pool.view();
      expect(heldUnits).to.be.at.most(units);
      await Promise.all(held.map((one) => pool.release(one)));
      const { holds } = (await world.get(`/pool-holds?poolId=${pool.id}&state=HELD&limit=200`)).body;
      const granted = (holds as Acquired[]).sort((a, b) => Number(a.fence) - Number(b.fence));
      expect(granted.map(({ id }) => id)).to.deep.equal(order.splice(0, granted.length));
      fences.push(...granted.map(({ fence }) => Number(fence)));
      held = granted.map(({ id }) => all.find((one) => one.id === id) as Acquired);
    }
    expect(order).to.deep.equal([]);
    expect(fences).to.deep.equal([...new Set(fences)].sort((a, b) => a - b));
    expect(fences).to.have.length(200);
    await expectAgreement(world);
  });

  it('at the end of a lease give its units to one of them, and the renewal that comes too late gets none', async () => {
    const world = await World.create();
    await world.at(start);
    const pool = await TestPool.create(world);
    const held = await pool.acquire({ leaseSeconds: 10 });
    const waiting = await Promise.all(Array.from({ length: 100 }, () => pool.acquire()));
    await world.at(start + 10_000);
    const [renewed, ...asked] = await Promise.all([
      pool.renew(held),
      ...Array.from({ length: 100 }, () => pool.ask({ ttlSeconds: 0 })),
    ]);
    expect(codeOf(renewed)).to.equal('409 CLAIM_LOST');
    expect(new Set(asked.map(codeOf))).to.deep.equal(new Set(['429 POOL_EXHAUSTED']));
    const states = await pool.states(...waiting);
    expect(states.filter((state) => state === 'HELD')).to.have.length(1);
    expect(await pool.view()).to.include({ heldUnits: 1, waiting: 99 });
    await expectAgreement(world);
  });
});
