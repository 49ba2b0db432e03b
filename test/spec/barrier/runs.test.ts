import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { expectNeedsOperation, expectNeedsRun, limitedWorld } from '../../support/plan.ts';
import { codeOf, World } from '../../support/world.ts';
import { filled } from '../scope/run.ts';
import { Gate } from './gate.ts';

describe('the barriers of a run', () => {
  it('are in its view, newest first, whatever their state', async () => {
    const world = await World.create();
    const start = Date.now();
    await world.at(start);
    const first = await Gate.create(2, world);
    await world.at(start + 1);
    const { id } = await world.mustPost('/barriers', { scopeId: first.scopeId, target: 1 });
    await world.mustPost(`/barriers/${id}/arrive`, { arrivalKey: 'a' });
    const { barriers } = (await world.get(`/ops/runs/${first.scopeId}`)).body;
    expect(barriers).to.deep.equal([(await world.get(`/barriers/${id}`)).body, await first.view()]);
    await expectAgreement(world);
  });

  it('end with its cancel if they are OPEN, and each counts once', async () => {
    const world = await World.create();
    const open = await Gate.create(2, world);
    const more = { scopeId: open.scopeId, target: 1 };
    const other = await world.mustPost('/barriers', more);
    const released = await world.mustPost('/barriers', more);
    await world.mustPost(`/barriers/${released.id}/arrive`, { arrivalKey: 'a' });
    const { cancelled } = await world.mustPost(`/scopes/${open.scopeId}/cancel`);
    expect(cancelled.barriers).to.equal(2);
    const states = [];
    for (const id of [open.id, other.id, released.id]) states.push((await world.get(`/barriers/${id}`)).body.state);
    expect(states).to.deep.equal(['CANCELLED', 'CANCELLED', 'RELEASED']);
    expect(await open.eventCount('cancelled')).to.equal(2);
    expect(codeOf(await world.post(`/barriers/${released.id}/nextEpoch`))).to.equal('409 SCOPE_CANCELLED');
    expect(codeOf(await world.post('/barriers', more))).to.equal('409 SCOPE_CANCELLED');
    await expectAgreement(world);
  });

  it('end in one step of its cancel, as it ends 250 records, if they are 200', async () => {
    const gate = await Gate.create(2);
    const { world, scopeId } = gate;
    await Promise.all(Array.from({ length: 199 }, () => world.mustPost('/barriers', { scopeId, target: 1 })));
    const { done, cancelled } = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect([done, cancelled.barriers]).to.deep.equal([true, 200]);
  });

  it('are cancelled from the first step of its cancel on: an arrival or a cancel ends one that no step has reached', async () => {
    const { run } = await filled();
    const { world } = run;
    const make = () => world.mustPost('/barriers', { scopeId: run.scopeId, target: 1 });
    const [arrived, cancelled] = [await make(), await make()];
    expect((await run.cancel()).body).to.deep.include({ done: false });
    expect(codeOf(await world.post(`/barriers/${arrived.id}/arrive`, { arrivalKey: 'a' }))).to.equal(
      '409 BARRIER_CANCELLED',
    );
    const operations = () => world.service.store.hget(`muster:{${world.org}}`, 'usedOperations');
    const before = await operations();
    expect(await world.mustPost(`/barriers/${cancelled.id}/cancel`)).to.include({ state: 'CANCELLED', arrivals: 0 });
    expect(await operations(), 'part of the cancel').to.equal(before);
    await run.worked();
    expect((await run.cancel()).body.cancelled.barriers).to.equal(2);
    expect((await world.get('/watch?types=barrier.cancelled')).body.events).to.have.length(2);
    await expectAgreement(world);
  });
});

describe('a barrier under a plan', () => {
  it('begins and ends by hand only with an operation left; arrivals go on', async () => {
    const world = await limitedWorld();
    const [open, reopens] = [await Gate.create(2, world), await Gate.create(1, world)];
    await reopens.arrive('a');
    const fields = { scopeId: open.scopeId, target: 1 };
    await expectNeedsOperation(
      world,
      [['/barriers', fields], [`/barriers/${reopens.id}/nextEpoch`], [`/barriers/${open.id}/cancel`]],
      [[`/barriers/${open.id}/arrive`, { arrivalKey: 'a' }]],
    );
    expect([(await open.view()).state, (await reopens.view()).epoch]).to.deep.equal(['OPEN', 1]);
  });

  it('begins no run beyond the plan', async () => {
    const gate = await Gate.create(2, await limitedWorld());
    await expectNeedsRun(gate.world, [['/barriers', { scopeId: randomUUID(), target: 1 }]]);
  });
});
