import { expect } from 'chai';
import { many } from '../../support/long.ts';
import { World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;

/** More than one step ends. */
const half = many(150, 500);

describe('many holds that lapse at one moment', () => {
  it('let in those who wait, in bounded steps', async () => {
    const world = await World.create();
    await world.at(start);
    const pool = await TestPool.create(world, half);
    await Promise.all(Array.from({ length: half }, () => pool.acquire({ leaseSeconds: 10 })));
    const waiting = await Promise.all(Array.from({ length: half }, () => pool.acquire({ leaseSeconds: 600 })));
    await pool.passTo(start + 10_000);
    expect(new Set(await pool.states(...waiting))).to.deep.equal(new Set(['HELD']));
    expect(await pool.view()).to.include({ heldUnits: half, waiting: 0 });
    const { holds } = (await world.get('/census')).body;
    expect(holds).to.include({ HELD: half, LAPSED: half, WAITING: 0 });
  });
});
