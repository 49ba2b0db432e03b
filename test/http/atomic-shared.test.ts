import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendMany } from '../spec/mailbox/many.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { workOff } from '../support/work-off.ts';
import { World } from '../support/world.ts';

// Calls of one batch share what they have read and changed, also what is not written yet.
describe('The calls of an atomic batch', () => {
  const batch = (world: World, ...calls: object[]) => world.mustPost('/batch', { atomic: true, calls });

  /** Makes a scope in the queue's run that the first step of a cancel does not reach: it begins with what was created first. */
  async function unreachedScope({ world, id, scopeId: parentScopeId }: Queue): Promise<string> {
    const first = await world.mustPost('/scopes', { parentScopeId, name: 'a' });
    await sendMany(new Queue(world, id), 600, { scopeIds: [first.id] });
    return (await world.mustPost('/scopes', { parentScopeId, name: 'b' })).id;
  }

  it('may arrive in the epoch that an earlier one has opened, with a key of the epoch before', async () => {
    const world = await World.create();
    const { id } = await world.mustPost('/barriers', { scopeId: randomUUID(), target: 1 });
    await world.mustPost(`/barriers/${id}/arrive`, { arrivalKey: 'a' });
    const { results } = await batch(
      world,
      { call: 'barrier.nextEpoch', barrierId: id },
      { call: 'barrier.arrive', barrierId: id, arrivalKey: 'a' },
    );
    expect(results[1].body).to.include({ epoch: 2, arrivals: 1, state: 'RELEASED' });
    await expectAgreement(world);
  });

  it('may use what an earlier one has made, as if it had been stored', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    const barrierId = { $from: 0 };
    const { results } = await batch(
      world,
      { call: 'barrier.create', scopeId, target: 2 },
      { call: 'barrier.arrive', barrierId, arrivalKey: 'a' },
      { call: 'barrier.arrive', barrierId, arrivalKey: 'b' },
    );
    expect(results[2].body).to.include({ arrivals: 2, state: 'RELEASED' });
    const budget = { call: 'budget.create', currency: 'EUR', scale: 2, limitMinor: '100' };
    await batch(world, { ...budget, name: 'p' }, { ...budget, name: 'c', parentBudgetId: { $from: 0 } });
    await expectAgreement(world);
  });

  it('may take several waiters out of a queue that is just short enough not to be rebuilt', async () => {
    const world = await World.create();
    const { id: allowanceId } = await world.mustPost('/allowances', { name: 'a', unitsLimit: 1, windowSeconds: 3600 });
    const scopeId = randomUUID();
    await world.mustPost(`/allowances/${allowanceId}/consume`, { scopeId, units: 1, holder: 'h' });
    const wait = { scopeId, units: 1, holder: 'h', ttlSeconds: 3600 };
    const waiters: string[] = [];
    for (let n = 0; n < 104; n++) waiters.push((await world.mustPost(`/allowances/${allowanceId}/wait`, wait)).id);
    for (const id of waiters.slice(3)) await world.mustPost(`/allowance-waiters/${id}/cancel`);
    const { results } = await batch(
      world,
      ...waiters.slice(1, 3).map((waiterId) => ({ call: 'waiter.cancel', waiterId })),
    );
    expect(results.map(({ body }: { body: { state: string } }) => body.state)).to.deep.equal([
      'CANCELLED',
      'CANCELLED',
    ]);
    expect((await world.get(`/allowances/${allowanceId}`)).body.waiting).to.equal(1);
    await expectAgreement(world);
  });

  it('may serve a long queue twice, and take one of those that still wait out of it', async () => {
    const world = await World.create();
    const { id: poolId } = await world.mustPost('/pools', { name: 'p', units: 200 });
    const acquire = (units: number) =>
      world.mustPost(`/pools/${poolId}/acquire`, { scopeId: randomUUID(), holder: 'h', units, ttlSeconds: 600 });
    const [first, second] = [await acquire(100), await acquire(100)];
    const waiting: string[] = [];
    for (let n = 0; n < 210; n++) waiting.push((await acquire(1)).id);
    const release = ({ id, token }: { id: string; token: string }) => ({ call: 'hold.release', holdId: id, token });
    const { results } = await batch(world, release(first), release(second), {
      call: 'hold.cancel',
      holdId: waiting[205],
    });
    expect(results[2].body.state).to.equal('CANCELLED');
    expect((await world.get(`/pools/${poolId}`)).body).to.include({ heldUnits: 200, waiting: 9 });
    await expectAgreement(world);
  });

  it('may lower a limit below what a waiter of a stopped run asks for, after taking a larger one out', async () => {
    const world = await World.create({ limits: { maxBacklog: 10_000 } });
    const queue = await Queue.create({ backlogLimit: 10_000 }, world);
    const { id: allowanceId } = await world.mustPost('/allowances', { name: 'a', unitsLimit: 20, windowSeconds: 3600 });
    await world.mustPost(`/allowances/${allowanceId}/consume`, { scopeId: randomUUID(), units: 20, holder: 'h' });
    const wait = async (scopeId: string, units: number): Promise<string> =>
      (await world.mustPost(`/allowances/${allowanceId}/wait`, { scopeId, units, holder: 'h', ttlSeconds: 3600 })).id;
    const waiterId = await wait(randomUUID(), 10);
    await wait(await unreachedScope(queue), 8);
    expect((await world.mustPost(`/scopes/${queue.scopeId}/cancel`)).done).to.equal(false);
    const { results } = await batch(
      world,
      { call: 'waiter.cancel', waiterId },
      { call: 'allowance.update', allowanceId, unitsLimit: 5 },
    );
    expect(results[1].body).to.include({ unitsLimit: 5, waiting: 0 });
    await workOff(world);
    await expectAgreement(world);
  });

  it('may view a scope that the cancel of its run has not reached, and end what is in it', async () => {
    const world = await World.create({ limits: { maxBacklog: 10_000 } });
    const queue = await Queue.create({ backlogLimit: 10_000 }, world);
    const scopeId = await unreachedScope(queue);
    const messageId = (await queue.send({ scopeId })).body.id;
    expect((await world.mustPost(`/scopes/${queue.scopeId}/cancel`)).done).to.equal(false);
    const { results } = await batch(world, { call: 'scope.view', scopeId }, { call: 'message.cancel', messageId });
    expect(results[0].body.state).to.equal('CANCELLED');
    await workOff(world);
    await expectAgreement(world);
  });
});
