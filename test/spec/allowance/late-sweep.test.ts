import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../../support/world.ts';
import { callArgs } from './script.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;
const scopeId = randomUUID();

/** A change that falls due between a call's sweep and the call is in effect, though nothing has swept it yet. */
describe('an allowance with changes due but not swept', () => {
  let world: World;
  let path: string;
  const wait = (units: number, ttlSeconds = 300): Promise<{ id: string }> =>
    world.mustPost(`${path}/wait`, { scopeId, units, holder: 'h', ttlSeconds });
  const state = async (id: string): Promise<string> => (await world.get(`/allowance-waiters/${id}`)).body.state;
  /** Runs a call whose sweep was done just before the window rolled. */
  const run = (name: string, args: Record<string, string | number>) =>
    world.service.scripts.execute(name, world.org, { ...callArgs(world), sweptThrough: start + 59_999, ...args }).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );

  beforeEach(async () => {
    world = await World.create();
    await world.at(start);
    path = `/allowances/${(await world.mustPost('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 60 })).id}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 5, holder: 'first' });
  });

  it('lets nobody jump the queue', async () => {
    const { id } = await wait(2);
    await world.at(start + 60_000);
    const args = { allowanceId: path.split('/')[2] ?? '', scopeId, units: 5, holder: 'late', workKey: '', tail: '7' };
    expect(await run('allowance/consume', args)).to.equal('ALLOWANCE_EXHAUSTED');
    expect(await state(id)).to.equal('WAITING');
  });

  it('refuses to cancel a waiter that has expired', async () => {
    const { id } = await wait(2, 60);
    await world.at(start + 60_000);
    expect(await run('allowance/cancelWaiter', { waiterId: id })).to.equal('WAITER_NOT_WAITING');
  });

  it('has a waiter EXPIRED, not CANCELLED, if its run is cancelled at the moment its time ends', async () => {
    const { id } = await wait(2, 60);
    await world.at(start + 60_000);
    expect(await run('scope/cancel', { scopeId })).to.equal('done');
    expect(await state(id)).to.equal('EXPIRED');
    expect((await world.mustPost(`/scopes/${scopeId}/cancel`)).cancelled.waiters).to.equal(0);
  });

  it('grants no unit twice when cancelling the head lets others in before the sweep does', async () => {
    const ids = [(await wait(5)).id, (await wait(3)).id, (await wait(3)).id];
    await world.at(start + 60_000);
    expect(await run('allowance/cancelWaiter', { waiterId: ids[0] ?? '' })).to.equal('done');
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect(await Promise.all(ids.map(state))).to.deep.equal(['CANCELLED', 'GRANTED', 'WAITING']);
    expect((await world.get(path)).body).to.include({ usedUnits: 3, waiting: 1 });
  });
});
