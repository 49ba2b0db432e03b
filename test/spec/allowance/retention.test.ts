import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day, kinds, none } from '../retention/support.ts';

describe('retention of waiters and consumptions', () => {
  it('keeps finished waiters and consumptions with their workKeys for max(window, 30 d), and their scope as long', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    await traffic.units();
    const scopeId = traffic.scopes.at(-1) ?? '';
    // The third one waits for units until it expires.
    await aging.sweepAt(60_000);
    await aging.sweepAt(30 * day - 1);
    expect(await kinds(aging, scopeId)).to.deep.equal({ ...none, waiters: 3, consumptions: 1, units: 2 });
    await aging.sweepAt(30 * day);
    expect(await kinds(aging, scopeId)).to.deep.equal({ ...none, waiters: 1 });
    const [{ id }] = (await aging.body('/allowances')).allowances;
    const again = { scopeId, holder: 'h', units: 5, workKey: scopeId };
    expect((await world.post(`/allowances/${id}/consume`, again)).body.replay).to.equal(false);
    await expectAgreement(world);
    await aging.sweepAt(60 * day);
    expect(await kinds(aging, scopeId)).to.equal(null);
    await expectAgreement(world);
  });
});
