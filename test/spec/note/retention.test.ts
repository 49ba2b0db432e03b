import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from '../retention/support.ts';
import { Sheet } from './sheet.ts';

describe('retention of notes', () => {
  it('removes them with their scope, max(window, 30 d) after the last put', async () => {
    const aging = await Aging.begin();
    const sheet = new Sheet(aging.world);
    await sheet.mustPut('a', 'value');
    await aging.at(29 * day);
    await sheet.mustPut('b', 1);
    await aging.sweepAt(59 * day - 1);
    expect(await sheet.keys()).to.deep.equal(['a', 'b']);
    await expectAgreement(aging.world);
    await aging.sweepAt(59 * day);
    expect((await aging.world.get(`/scopes/${sheet.scopeId}`)).status).to.equal(404);
    expect(await sheet.keys()).to.deep.equal([]);
    expect(await sheet.retainedBytes()).to.equal(0);
    await expectAgreement(aging.world);
    expect((await sheet.mustPut('a', 1)).version, 'a new scope').to.equal(1);
  });

  it('keeps them as long as other records keep their scope, and does not let a late record shorten that', async () => {
    const aging = await Aging.begin();
    const sheet = new Sheet(aging.world);
    const { scopeId, world } = sheet;
    const { id } = await world.mustPost('/barriers', { scopeId, target: 1 });
    await sheet.mustPut('n', 1);
    await aging.sweepAt(40 * day);
    await world.mustPost(`/barriers/${id}/cancel`);
    await aging.at(69 * day);
    await sheet.mustPut('n', 2);
    await aging.sweepAt(70 * day);
    await aging.sweepAt(71 * day);
    expect(await sheet.keys()).to.deep.equal(['n']);
    await aging.sweepAt(99 * day);
    await aging.sweepAt(100 * day);
    expect((await world.get(`/scopes/${scopeId}`)).status).to.equal(404);
    expect(await sheet.retainedBytes()).to.equal(0);
    await expectAgreement(world);
  });

  it('keeps the figures of days before', async () => {
    const aging = await Aging.begin();
    const sheet = new Sheet(aging.world);
    await sheet.mustPut('n', 'value');
    await aging.sweepAt(30 * day);
    const { days } = await aging.body('/usage');
    expect(days.slice(-2).map((one: { retainedBytes: number }) => one.retainedBytes)).to.deep.equal([7, 0]);
  });
});
