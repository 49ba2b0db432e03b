import { expect } from 'chai';
import { World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;

describe('a thousand holds that lapse at one moment', () => {
  it('let in those who wait, in bounded steps', async () => {
    const world = await World.create();
    await world.at(start);
    const pool = await TestPool.create(world, 500);
    await Promise.all(Array.from({ length: 500 }, () => pool.acquire({ leaseSeconds: 10 })));
    const waiting = await Promise.all(Array.from({ length: 500 }, () => pool.acquire({ leaseSeconds: 600 })));
    await pool.passTo(start + 10_000);
    expect(new Set(await pool.states(...waiting))).to.deep.equal(new Set(['HELD']));
    expect(await pool.view()).to.include({ heldUnits: 500, waiting: 0 });
    const { holds } = (await world.get('/census')).body;
    expect(holds).to.include({ HELD: 500, LAPSED: 500, WAITING: 0 });
  });
});
