import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day, kinds, none } from '../retention/support.ts';

describe('retention of barriers', () => {
  it('keeps a RELEASED barrier for max(window, 30 d) unless its next epoch begins', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    await traffic.barrier();
    await traffic.barrier();
    const [gone = '', kept = ''] = traffic.scopes;
    const [{ id }] = (await aging.body(`/ops/runs/${kept}`)).barriers;
    // Other barriers, in scopes that stay because of an undecided group, a reservation or an OPEN barrier.
    const [parentScopeId, spends, waits] = [traffic.scope(), traffic.scope(), traffic.scope()];
    const undecided = { parentScopeId, mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
    const { scopeId: gate } = await world.mustPost('/task-groups', undecided);
    const [budget] = (await aging.body('/budgets')).budgets;
    await world.mustPost(`/budgets/${budget.id}/reserve`, { scopeId: spends, holder: 'h', amountMinor: '1' });
    await world.mustPost('/barriers', { scopeId: waits, target: 1 });
    for (const scopeId of [gate, parentScopeId, spends, waits]) {
      const { id: cancelled } = await world.mustPost('/barriers', { scopeId, target: 1 });
      await world.mustPost(`/barriers/${cancelled}/cancel`);
    }
    await aging.sweepAt(30 * day - 1);
    expect(await kinds(aging, gone)).to.deep.equal({ ...none, barriers: 1 });
    await world.mustPost(`/barriers/${id}/nextEpoch`);
    await aging.sweepAt(30 * day);
    expect(await kinds(aging, gone)).to.equal(null);
    await aging.sweepAt(90 * day);
    expect(await kinds(aging, kept)).to.deep.equal({ ...none, barriers: 1 });
    expect(await kinds(aging, gate)).to.deep.equal({ ...none, groups: 1 });
    expect(await kinds(aging, parentScopeId)).to.deep.equal({ ...none, groups: 1, scopes: 1 });
    expect(await kinds(aging, spends)).to.deep.equal({ ...none, reservations: 1 });
    expect(await kinds(aging, waits)).to.deep.equal({ ...none, barriers: 1 });
    expect((await aging.body(`/barriers/${id}`)).state).to.equal('OPEN');
    await expectAgreement(world);
  });
});
