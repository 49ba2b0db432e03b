import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day, kinds } from './support.ts';

describe('retention of records', () => {
  it('keeps closed reservations with entries and workKeys for 400 d, and the balances forever', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    await traffic.reservation(new Date(aging.start + day).toISOString());
    const scopeId = traffic.scopes[0] ?? '';
    const [{ id: budgetId }] = (await aging.body('/budgets')).budgets;
    const [{ id: reservationId }] = (await aging.body(`/budgets/${budgetId}`)).reservations;
    const settle = () =>
      world.post(`/budgets/${budgetId}/settle`, { reservationId, workKey: reservationId, amountMinor: '4' });
    const kept = { scopeId: randomUUID(), holder: 'h', amountMinor: '3', workKey: 'job' };
    const reserve = async () => (await world.mustPost(`/budgets/${budgetId}/reserve`, kept)).replay;
    const { id: keyed } = await world.mustPost(`/budgets/${budgetId}/reserve`, kept);
    await world.mustPost(`/budgets/${budgetId}/void`, { reservationId: keyed, workKey: 'job' });
    await aging.sweepAt(400 * day - 1);
    expect((await settle()).body.replay).to.equal(true);
    expect(await reserve()).to.equal(true);
    const { balances } = await aging.body(`/budgets/${budgetId}`);
    await aging.sweepAt(400 * day);
    const { status, body } = await settle();
    expect([status, body.error.code]).to.deep.equal([409, 'RESERVATION_NOT_FOUND']);
    const after = await aging.body(`/budgets/${budgetId}`);
    expect([after.reservations, after.balances]).to.deep.equal([[], balances]);
    expect(await kinds(aging, scopeId)).to.equal(null);
    expect(await reserve()).to.equal(false);
    await expectAgreement(world);
  });

  it('removes a reservation with very many entries in bounded steps, and never shows any of them without it', async () => {
    const aging = await Aging.begin();
    const { world, traffic } = aging;
    const [{ id: budgetId }] = (await aging.body('/budgets')).budgets;
    const scopeId = traffic.scope();
    const path = `/budgets/${budgetId}`;
    const reserve = () => world.mustPost(`${path}/reserve`, { scopeId, holder: 'h', amountMinor: '125' });
    const { id: reservationId } = await reserve();
    const settle = (i: number) => world.post(`${path}/settle`, { reservationId, workKey: `w${i}`, amountMinor: '1' });
    await Promise.all(Array.from({ length: 125 }, (_, i) => settle(i)));
    await aging.at(400 * day);
    const step = { spaceId: '', requestId: '', maxRecords: 100 };
    const { scripts, store } = world.service;
    const entries = () => store.hlen(`${world.prefix}:budget:${budgetId}:workKeys:SETTLE`);
    expect(await scripts.execute('retention/records', world.org, step)).to.deep.equal([1]);
    expect(await entries()).to.equal(26);
    expect((await settle(124)).body.error.code).to.equal('RESERVATION_NOT_FOUND');
    const other = await reserve();
    const used = { reservationId: other.id, workKey: 'w124', amountMinor: '2' };
    expect((await world.post(`${path}/settle`, used)).body.replay).to.equal(false);
    await aging.sweepAt(400 * day);
    expect((await world.post(`${path}/settle`, used)).body.replay).to.equal(true);
    expect(await entries()).to.equal(1);
    await expectAgreement(world);
  });

  it('keeps the audit trail for 365 d', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const length = () => world.service.store.xlen(`muster:{${world.org}}:audit`);
    // The organization, space and key were created just before the clock was set, so their entries are removed.
    await aging.sweepAt(365 * day - 1);
    expect(await length()).to.equal(2);
    await aging.at(365 * day);
    const step = () =>
      world.service.scripts.execute('retention/records', world.org, { spaceId: '', requestId: '', maxRecords: 1 });
    expect([await step(), await length()]).to.deep.equal([[1], 1]);
    await aging.sweepAt(365 * day);
    expect(await length()).to.equal(0);
  });
});
