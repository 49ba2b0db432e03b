import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day, kinds, none } from '../retention/support.ts';

describe('retention of groups', () => {
  it('keeps a decided group with its members for max(window, 30 d), then its gate scope and its parent', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    await traffic.group();
    const parent = traffic.scopes[0] ?? '';
    await aging.sweepAt(30 * day - 1);
    expect(await kinds(aging, parent)).to.deep.equal({ ...none, groups: 1, scopes: 1 });
    await aging.sweepAt(30 * day);
    expect(await kinds(aging, parent)).to.deep.equal({ ...none, scopes: 1 });
    await expectAgreement(world);
    await aging.sweepAt(37 * day);
    expect(await kinds(aging, parent)).to.equal(null);
    await expectAgreement(world);
  });

  it('counts each group and each member as a removed record, so a step stays within what it may remove', async () => {
    const aging = await Aging.begin();
    const { world, traffic } = aging;
    for (let i = 0; i < 3; i++) {
      const group = { mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
      const { id } = await world.mustPost('/task-groups', group);
      await world.mustPost(`/task-groups/${id}/tasks`, { taskKey: 'a' });
      const scopeId = (await aging.body(`/task-groups/${id}`)).scopeId;
      await traffic.complete(await traffic.claim(scopeId));
      await world.mustPost(`/task-groups/${id}/seal`);
    }
    await aging.at(30 * day);
    const step = (maxRecords: number) =>
      world.service.scripts.execute('retention/records', world.org, { spaceId: '', requestId: '', maxRecords });
    // Two of them are four records, so that a step of five begins with the third.
    await step(5);
    expect((await aging.body('/task-groups')).groups).to.have.length(0);
  });
});
