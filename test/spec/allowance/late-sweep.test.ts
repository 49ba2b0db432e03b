import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../../support/world.ts';
import { callArgs } from './script.ts';

const start = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
const scopeId = randomUUID();

/** What falls due between the sweep and the call it was for is over, though nothing has made it real yet. */
describe('an allowance that is not swept yet', () => {
  let world: World;
  let path: string;
  const wait = (units: number, ttlSeconds = 300): Promise<{ id: string }> =>
    world.made(`${path}/wait`, { scopeId, units, holder: 'h', ttlSeconds });
  const state = async (id: string): Promise<string> => (await world.get(`/allowance-waiters/${id}`)).body.state;
  /** A call whose sweep was done just before the window rolled. */
  const run = (name: string, own: Record<string, string | number>) =>
    world.service.scripts.run(name, world.org, { ...callArgs(world), drainedThrough: start + 59_999, ...own }).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );

  beforeEach(async () => {
    world = await World.create();
    await world.at(start);
    path = `/allowances/${(await world.made('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 60 })).id}`;
    await world.made(`${path}/consume`, { scopeId, units: 5, holder: 'first' });
  });

  it('lets nobody overtake', async () => {
    const { id } = await wait(2);
    await world.at(start + 60_000);
    const own = { allowanceId: path.split('/')[2] ?? '', scopeId, units: 5, holder: 'late', workKey: '', tail: '7' };
    expect(await run('allowance/consume', own)).to.equal('ALLOWANCE_EXHAUSTED');
    expect(await state(id)).to.equal('WAITING');
  });

  it('does not cancel a waiter whose time is over', async () => {
    const { id } = await wait(2, 60);
    await world.at(start + 60_000);
    expect(await run('allowance/cancelWaiter', { waiterId: id })).to.equal('WAITER_NOT_WAITING');
  });

  it('hands out no unit twice when a cancelled head lets others in before the sweep does', async () => {
    const ids = [(await wait(5)).id, (await wait(3)).id, (await wait(3)).id];
    await world.at(start + 60_000);
    expect(await run('allowance/cancelWaiter', { waiterId: ids[0] ?? '' })).to.equal('done');
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect(await Promise.all(ids.map(state))).to.deep.equal(['CANCELLED', 'GRANTED', 'WAITING']);
    expect((await world.get(path)).body).to.include({ usedUnits: 3, waiting: 1 });
  });
});
