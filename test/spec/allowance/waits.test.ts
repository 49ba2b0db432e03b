import { expect } from 'chai';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';
import { queueMany } from './script.ts';

const iso = (at: number): string => new Date(at).toISOString();

async function begin(): Promise<{ world: World; traffic: Traffic; start: number }> {
  const world = await World.create();
  const start = (Math.ceil(Date.now() / 600_000) + 1) * 600_000;
  await world.at(start);
  return { world, traffic: await Traffic.on(world), start };
}

describe('the list of what waits', () => {
  it('shows what blocks each waiter: the head of the line, the window or a cooldown', async () => {
    const { world, traffic, start } = await begin();
    const scopeId = traffic.scope();
    const allowance = await world.mustPost('/allowances', { name: 'w', unitsLimit: 5, windowSeconds: 600 });
    const other = await world.mustPost('/allowances', { name: 'c', unitsLimit: 5, windowSeconds: 600 });
    const wait = (id: string, units: number) =>
      world.mustPost(`/allowances/${id}/wait`, { scopeId, holder: 'h', units });
    const granted = await wait(allowance.id, 3);
    await world.at(start + 1);
    const head = await wait(allowance.id, 4);
    await world.at(start + 2);
    const behind = await wait(allowance.id, 1);
    await world.mustPost(`/allowances/${other.id}/cooldown`, { seconds: 100 });
    await world.at(start + 3);
    const cooling = await wait(other.id, 1);
    const { waiters, heldGrants } = (await world.get('/ops/waits')).body;
    const edges = waiters.map((row: Record<string, unknown>) =>
      ['waiterId', 'position', 'blockedBy', 'blockedUntil'].map((name) => row[name]),
    );
    expect(edges).to.deep.equal([
      [head.waiterId, 1, 'WINDOW', iso(start + 600_000)],
      [behind.waiterId, 2, 'HEAD_OF_LINE', null],
      [cooling.waiterId, 1, 'COOLDOWN', iso(start + 100_002)],
    ]);
    expect(waiters[0]).to.include({
      units: 4,
      waitingSince: iso(start + 1),
      expiresAt: iso(start + 300_001),
      holder: 'h',
    });
    expect(heldGrants).to.deep.equal([
      {
        waiterId: granted.waiterId,
        allowanceId: allowance.id,
        scopeId,
        holder: 'h',
        units: 3,
        windowEndsAt: iso(start + 600_000),
      },
    ]);
    await world.at(start + 100_002);
    expect((await world.get('/ops/waits')).body.waiters[2], 'it is over, though not swept').to.include({
      blockedBy: 'WINDOW',
      blockedUntil: null,
    });
    // A cooldown that ends after the window, and one that ends before enough units are available.
    await world.mustPost(`/allowances/${allowance.id}/cooldown`, { seconds: 100 });
    const blocked = async () => {
      const [{ blockedBy, blockedUntil }] = (await world.get('/ops/waits')).body.waiters;
      return [blockedBy, blockedUntil];
    };
    expect(await blocked()).to.deep.equal(['COOLDOWN', iso(start + 600_000)]);
    await world.mustPost(`/allowances/${allowance.id}/cooldown`, { seconds: 900 });
    expect(await blocked()).to.deep.equal(['COOLDOWN', iso(start + 1_000_002)]);
    await world.at(start + 600_000);
    await world.service.due.drain(world.org);
    expect(
      (await world.get('/ops/waits')).body.heldGrants.map((row: { waiterId: string }) => row.waiterId),
    ).to.not.include(granted.waiterId);
  });

  it('lists at most 200 waiters and 200 grants, and reports if there are more', async () => {
    const { world, traffic } = await begin();
    const allowance = async (unitsLimit: number) =>
      (await world.mustPost('/allowances', { name: `${unitsLimit}`, unitsLimit, windowSeconds: 600 })).id;
    const id = await allowance(1);
    await world.mustPost(`/allowances/${id}/consume`, { scopeId: traffic.scope(), units: 1, holder: 'h' });
    await queueMany(world, id, 201, 300);
    const shown = async () => {
      const { waiters, heldGrants, truncated } = (await world.get('/ops/waits')).body;
      return [waiters.length, heldGrants.length, truncated];
    };
    expect(await shown()).to.deep.equal([200, 0, true]);
    const [{ waiterId }] = (await world.get('/ops/waits')).body.waiters;
    await world.mustPost(`/allowance-waiters/${waiterId}/cancel`);
    expect(await shown()).to.deep.equal([200, 0, false]);
    await queueMany(world, await allowance(201), 201, 300);
    expect(await shown()).to.deep.equal([200, 200, true]);
  });

  it('shows in the backlog how long the first waiter of the space has waited, until nobody waits', async () => {
    const { world, traffic, start } = await begin();
    const scopeId = traffic.scope();
    const backlog = async () => {
      const { waitingWaiters, oldestWaiterAgeSeconds } = (await world.get('/backlog')).body;
      return [waitingWaiters, oldestWaiterAgeSeconds];
    };
    const waiters = [];
    for (const name of ['one', 'two']) {
      const { id } = await world.mustPost('/allowances', { name, unitsLimit: 1, windowSeconds: 86_400 });
      await world.mustPost(`/allowances/${id}/consume`, { scopeId, units: 1, holder: 'h' });
      waiters.push(await world.mustPost(`/allowances/${id}/wait`, { scopeId, units: 1, holder: 'h' }));
      await world.at(start + 20_000);
    }
    await world.at(start + 30_000);
    expect(await backlog()).to.deep.equal([2, 30]);
    await world.mustPost(`/allowance-waiters/${waiters[0].id}/cancel`);
    expect(await backlog()).to.deep.equal([1, 10]);
    await world.mustPost(`/allowance-waiters/${waiters[1].id}/cancel`);
    expect(await backlog()).to.deep.equal([0, null]);
  });
});
