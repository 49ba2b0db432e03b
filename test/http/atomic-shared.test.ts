import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sendMany } from '../spec/mailbox/many.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { Aging, day } from '../spec/retention/support.ts';
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
    const below = async (name: string): Promise<string> =>
      (await world.mustPost('/scopes', { parentScopeId: queue.scopeId, name })).id;
    await sendMany(queue, 600, { scopeIds: [await below('a')] });
    await wait(await below('b'), 8);
    expect((await world.mustPost(`/scopes/${queue.scopeId}/cancel`)).done).to.equal(false);
    const { results } = await batch(
      world,
      { call: 'waiter.cancel', waiterId },
      { call: 'allowance.update', allowanceId, unitsLimit: 5 },
    );
    expect(results[1].body).to.include({ unitsLimit: 5, waiting: 0 });
    await world.service.due.drain(world.org, '*');
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

describe('A scope that retention would remove', () => {
  it('is kept while a cancel stands at it', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const { id: runId } = await world.mustPost('/scopes', { scopeId: randomUUID(), name: 'run' });
    const below = async (name: string): Promise<string> =>
      (await world.mustPost('/scopes', { parentScopeId: runId, name })).id;
    const [busy, idle] = [await below('a'), await below('b')];
    await aging.at(31 * day);
    const queue = await Queue.create({}, world);
    await sendMany(queue, 249, { scopeIds: [busy] });
    expect((await world.mustPost(`/scopes/${runId}/cancel`)).done).to.equal(false);
    await world.service.retention.retain(world.org);
    await world.service.due.drain(world.org, '*');
    expect((await world.get(`/scopes/${idle}`)).body.state).to.equal('CANCELLED');
    expect((await world.mustPost(`/scopes/${runId}/cancel`)).done).to.equal(true);
    await expectAgreement(world);
  });
});

describe('A mailbox', () => {
  it('shows, once perKey is raised, since when the messages are ready that this freed', async () => {
    const queue = await Queue.create({ perKey: 1 });
    for (let n = 0; n < 2; n++) await queue.sent({ key: 'k' });
    await queue.claim();
    const { body } = await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 2 });
    expect(body.counts.ready).to.equal(1);
    expect(body.oldestReadyAt).to.be.a('string');
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

describe('The answers of calls without a space', () => {
  it('are removed two days later, also on a day with one such call', async () => {
    const world = await World.create();
    const body = JSON.stringify({ permissions: ['coordination_read'] });
    const headers = {
      Authorization: `Bearer ${world.apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': 'one',
    };
    expect((await world.send('POST', '/v1/keys', body, headers)).status).to.equal(201);
    const { store } = world.service;
    const [name = '', ...more] = await store.keys(`muster:{${world.org}}:idempotency:*`);
    expect(more).to.deep.equal([]);
    expect(await store.pttl(name)).to.be.within(1, 2 * 86_400_000);
    expect((await world.send('POST', '/v1/keys', body, headers)).headers.get('Idempotent-Replayed')).to.equal('true');
  });
});
