import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
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

describe('many holds that wait and expire at one moment', () => {
  it('leave those before and behind them in line', async () => {
    const world = await World.create();
    await world.at(start);
    const pool = await TestPool.create(world);
    const held = await pool.acquire({ leaseSeconds: 600 });
    const first = await pool.acquire({ ttlSeconds: 3600 });
    // So many that the list of the queue is rebuilt without them.
    const short = await Promise.all(Array.from({ length: half + 50 }, () => pool.acquire({ ttlSeconds: 10 })));
    const last = await pool.acquire({ ttlSeconds: 3600 });
    await pool.passTo(start + 10_000);
    expect(new Set(await pool.states(...short))).to.deep.equal(new Set(['EXPIRED']));
    expect([(await pool.hold(first.id)).position, (await pool.hold(last.id)).position]).to.deep.equal([1, 2]);
    await pool.release(held);
    expect(await pool.states(first, last)).to.deep.equal(['HELD', 'WAITING']);
    await world.mustPost(`/pool-holds/${first.id}/release`, { token: first.token });
    expect(await pool.states(last)).to.deep.equal(['HELD']);
    await expectAgreement(world);
  });
});
