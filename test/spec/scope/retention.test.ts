import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';
import { Aging, day } from '../retention/support.ts';
import { Run } from './run.ts';

describe('retention of scopes made by POST /scopes', () => {
  it('removes unused scopes after max(window, 30 d), with their entries in lists', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const { id: parentScopeId } = await world.mustPost('/scopes', { name: 'parent' });
    const { id: child } = await world.mustPost('/scopes', { parentScopeId, name: 'child' });
    const { id: used } = await world.mustPost('/scopes', { name: 'used' });
    await world.mustPost('/barriers', { scopeId: used, target: 1 });
    await aging.sweepAt(30 * day - 1);
    expect((await aging.body('/scopes')).scopes).to.have.length(3);
    await aging.sweepAt(30 * day);
    expect((await world.get(`/scopes/${child}`)).status).to.equal(404);
    await aging.sweepAt(60 * day);
    expect((await aging.body('/scopes')).scopes.map(({ id }: { id: string }) => id)).to.deep.equal([used]);
    for (const query of ['name=child', 'name=parent', `parentScopeId=${parentScopeId}`])
      expect((await aging.body(`/scopes?${query}`)).scopes).to.deep.equal([]);
    await expectAgreement(world);
    const keys = await world.service.store.zcard(`${world.prefix}:scopeNames`);
    expect(keys).to.equal(1);
  });

  it('keeps a scope that was used meanwhile until its use is over', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const { id } = await world.mustPost('/scopes', {});
    await aging.at(20 * day);
    const { id: barrier } = await world.mustPost('/barriers', { scopeId: id, target: 1 });
    await world.mustPost(`/barriers/${barrier}/cancel`);
    await aging.sweepAt(40 * day);
    expect((await world.get(`/scopes/${id}`)).status).to.equal(200);
    await aging.sweepAt(50 * day);
    await aging.sweepAt(80 * day);
    expect((await world.get(`/scopes/${id}`)).status).to.equal(404);
    await expectAgreement(world);
  });

  it("frees the place among its parent's children", async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const run = await Run.create(world);
    await world.mustPost('/barriers', { scopeId: run.scopeId, target: 1 });
    await run.below();
    await aging.sweepAt(30 * day);
    const key = `${world.prefix}:scope:${run.scopeId}`;
    expect(await world.service.store.hget(key, 'declaredChildren')).to.equal('0');
  });

  it('keeps a cancelled scope CANCELLED as long from its cancel on, even if its work was over before', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const run = await Run.create(world);
    const inner = await run.below();
    await inner.sent(1);
    await aging.at(25 * day);
    await run.cancel();
    await aging.sweepAt(54 * day);
    for (const one of [run, inner]) expect((await one.view()).state).to.equal('CANCELLED');
    expect((await run.send()).status).to.equal(409);
    await aging.sweepAt(62 * day);
    await aging.sweepAt(92 * day);
    await aging.sweepAt(122 * day);
    for (const { scopeId } of [run, inner]) expect((await world.get(`/scopes/${scopeId}`)).status).to.equal(404);
    expect((await aging.body('/census')).scopes).to.deep.equal({ ACTIVE: 0, IDLE: 0, CANCELLED: 0 });
    await expectAgreement(world);
  });

  it('keeps a scope at which the cancel of its run stands', async () => {
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
    await workOff(world);
    expect((await world.get(`/scopes/${idle}`)).body.state).to.equal('CANCELLED');
    expect((await world.mustPost(`/scopes/${runId}/cancel`)).done).to.equal(true);
    await expectAgreement(world);
  });
});
