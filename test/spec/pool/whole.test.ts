import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

describe('pools in an atomic batch', () => {
  it('release, acquire and cancel in one step: the order holds, and what waits is granted in that step', async () => {
    const world = await World.create();
    const pool = await TestPool.create(world, 1);
    const first = await pool.acquire({ holderSession: 'a' });
    const second = await pool.acquire({ holderSession: 'b' });
    const third = await pool.acquire({ holderSession: 'c' });
    const acquire = (holderSession: string) => ({
      ...{ call: 'pool.acquire', poolId: pool.id, scopeId: pool.scopeId, holder: 'agent', holderSession },
    });
    const release = { call: 'hold.release', holdId: first.id, token: first.token };
    const calls = [acquire('d'), release, { call: 'hold.cancel', holdId: third.id }, acquire('e')];
    const { results } = await world.mustPost('/batch', { atomic: true, calls });
    expect(results.map(({ body }: { body: { position: number } }) => body.position)).to.deep.equal([3, null, null, 2]);
    expect(await pool.states(first, second, third)).to.deep.equal(['RELEASED', 'HELD', 'CANCELLED']);
    expect(await pool.view()).to.include({ heldUnits: 1, waiting: 2 });
    await expectAgreement(world);
  });
});
