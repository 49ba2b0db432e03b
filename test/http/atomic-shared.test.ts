import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendMany } from '../spec/mailbox/many.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { World } from '../support/world.ts';

// Calls of one batch share what they have read and changed, also what is not written yet.
describe('The calls of an atomic batch', () => {
  const batch = (world: World, ...calls: object[]) => world.mustPost('/batch', { atomic: true, calls });

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

  it('may view a scope that the cancel of its run has not reached, and end what is in it', async () => {
    const world = await World.create({ limits: { maxBacklog: 10_000 } });
    const queue = await Queue.create({ backlogLimit: 10_000 }, world);
    const below = async (name: string): Promise<string> =>
      (await world.mustPost('/scopes', { parentScopeId: queue.scopeId, name })).id;
    // The cancel begins with what was created first.
    await sendMany(queue, 600, { scopeIds: [await below('a')] });
    const scopeId = await below('b');
    const messageId = (await queue.send({ scopeId })).body.id;
    expect((await world.mustPost(`/scopes/${queue.scopeId}/cancel`)).done).to.equal(false);
    const { results } = await batch(world, { call: 'scope.view', scopeId }, { call: 'message.cancel', messageId });
    expect(results[0].body.state).to.equal('CANCELLED');
    await world.service.due.drain(world.org, '*');
    await expectAgreement(world);
  });
});

describe('A pool that is deleted', () => {
  it('leaves no timer behind for messages that no longer wait for it', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const { id: poolId } = await world.mustPost('/pools', { name: 'p', units: 3 });
    const hold = await world.mustPost(`/pools/${poolId}/acquire`, { scopeId: queue.scopeId, holder: 'h', units: 2 });
    const large = await queue.sent({ requires: { pools: [{ poolId, units: 2 }] } });
    expect((await queue.recv()).status).to.equal(204);
    const small = await queue.sent({ requires: { pools: [{ poolId }] } });
    for (const id of [small, large]) await world.mustPost(`/messages/${id}/cancel`);
    await world.mustPost(`/pool-holds/${hold.id}/release`, { token: hold.token });
    expect((await world.call('DELETE', `/pools/${poolId}`)).status).to.equal(204);
    await world.service.due.drain(world.org, '*');
    expect(await world.service.store.zcard(`muster:{${world.org}}:backgroundTimers`)).to.equal(0);
    await expectAgreement(world);
  });
});
