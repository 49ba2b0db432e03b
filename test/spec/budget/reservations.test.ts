import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Purse } from './purse.ts';

describe('reserve, settle and void', () => {
  it('reserve takes from what is available, and answers with the balances; more is INSUFFICIENT_BUDGET', async () => {
    const purse = await Purse.create();
    const { status, body } = await purse.reserve('0300');
    expect(status).to.equal(201);
    expect(body).to.deep.include({ budgetId: purse.id, scopeId: purse.scopeId, holder: 'agent-1', amountMinor: '300' });
    expect(body).to.deep.include({ settledMinor: '0', voidedMinor: '0', remainingMinor: '300', state: 'ACTIVE' });
    expect(body).to.deep.include({ settleBy: null, overdue: false, closedAt: null });
    expect(body.balances).to.deep.equal({
      limit: '1000',
      reserved: '300',
      settled: '0',
      available: '700',
      overdrawn: '0',
    });
    expect((await purse.view()).reservations).to.deep.equal([body].map(({ balances: _, replay: __, ...rest }) => rest));
    const refused = await purse.reserve('701');
    expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
    expect(refused.body.error.message).to.contain('700');
    expect((await purse.reserve('700')).status).to.equal(201);
    for (const amount of ['0', '000', '0000000000000000001'])
      expect(codeOf(await purse.reserve(amount)), amount).to.equal('400 VALIDATION_FAILED');
    expect(await purse.balances()).to.equal('1000 1000 0 0');
  });

  it('settle may be repeated up to the reserved amount, and leaves the remainder reserved', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('100')).body;
    expect((await purse.settle(id, '0')).body.entry).to.deep.include({ kind: 'SETTLE', amountMinor: '0' });
    const first = (await purse.settle(id, '30')).body;
    expect(first.reservation).to.include({ state: 'ACTIVE', settledMinor: '30', remainingMinor: '70', closedAt: null });
    expect(await purse.balances()).to.equal('1000 70 30 900');
    expect(codeOf(await purse.settle(id, '71'))).to.equal('409 SETTLEMENT_EXCEEDS_RESERVATION');
    const last = (await purse.settle(id, '70')).body;
    expect(last.reservation).to.include({
      state: 'SETTLED',
      settledMinor: '100',
      remainingMinor: '0',
      voidedMinor: '0',
    });
    expect(last.reservation.closedAt).to.equal(last.entry.createdAt);
    expect(await purse.balances()).to.equal('1000 0 100 900');
    expect(codeOf(await purse.settle(id, '0'))).to.equal('409 RESERVATION_CLOSED');
    expect(codeOf(await purse.void(id))).to.equal('409 RESERVATION_CLOSED');
  });

  it('only void releases the remainder', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('100')).body;
    await purse.settle(id, '30');
    const { entry, replay, reservation } = (await purse.void(id, 'v')).body;
    expect(entry).to.deep.include({
      kind: 'VOID',
      amountMinor: '70',
      budgetId: purse.id,
      reservationId: id,
      workKey: 'v',
    });
    expect(replay).to.equal(false);
    expect(reservation).to.include({ state: 'VOIDED', settledMinor: '30', voidedMinor: '70', remainingMinor: '0' });
    expect(await purse.balances()).to.equal('1000 0 30 970');
  });

  it('a repeated workKey replays the first entry with current balances, also after the reservation is closed', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('100')).body;
    const first = (await purse.settle(id, '30', 'w')).body;
    await purse.reserve('200');
    const again = await purse.settle(id, '030', 'w');
    expect([again.status, again.body.replay, again.body.entry]).to.deep.equal([200, true, first.entry]);
    expect(again.body.balances).to.deep.equal({
      limit: '1000',
      reserved: '270',
      settled: '30',
      available: '700',
      overdrawn: '0',
    });
    const voided = (await purse.void(id, 'w')).body;
    expect(voided.replay).to.equal(false);
    for (const [repeated, entry] of [
      [await purse.settle(id, '30', 'w'), first.entry],
      [await purse.void(id, 'w'), voided.entry],
    ]) {
      expect(repeated.body.replay).to.equal(true);
      expect(repeated.body.entry).to.deep.equal(entry);
      expect(repeated.body.reservation.state).to.equal('VOIDED');
    }
    expect(await purse.balances()).to.equal('1000 200 30 770');
    expect((await purse.world.eventTypes()).slice(-2)).to.deep.equal(['budget.reserved', 'budget.voided']);
  });

  it('a workKey reused for another reservation or amount is WORK_KEY_CONFLICT', async () => {
    const purse = await Purse.create();
    const [one, two] = [(await purse.reserve('10')).body.id, (await purse.reserve('10')).body.id];
    await purse.settle(one, '5', 'w');
    expect(codeOf(await purse.settle(one, '4', 'w'))).to.equal('409 WORK_KEY_CONFLICT');
    expect(codeOf(await purse.settle(two, '5', 'w'))).to.equal('409 WORK_KEY_CONFLICT');
    await purse.void(one, 'v');
    expect(codeOf(await purse.void(two, 'v'))).to.equal('409 WORK_KEY_CONFLICT');
  });

  it('each budget has its own keys; a reservation of another one is 409 RESERVATION_NOT_FOUND', async () => {
    const purse = await Purse.create();
    const other = await Purse.create('1000', purse.world);
    const [id, foreign] = [(await purse.reserve('5')).body.id, (await other.reserve('5')).body.id];
    expect(codeOf(await purse.settle(foreign, '5', 'w'))).to.equal('409 RESERVATION_NOT_FOUND');
    expect(codeOf(await purse.void(foreign))).to.equal('409 RESERVATION_NOT_FOUND');
    await purse.settle(id, '5', 'w');
    expect((await other.settle(foreign, '5', 'w')).body.replay).to.equal(false);
  });

  it('emit budget.reserved, .settled and .voided with ids, state and amount; refusals and replays emit nothing', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('10')).body;
    await purse.reserve('5000');
    const settled = (await purse.settle(id, '3', 'w')).body.entry.id;
    await purse.settle(id, '3', 'w');
    await purse.settle(id, '8');
    const voided = (await purse.void(id)).body.entry.id;
    const { events } = (await purse.world.get('/events')).body;
    expect(events.map(({ type }: { type: string }) => type).join(' ')).to.equal(
      'budget.created scope.created budget.reserved budget.settled budget.voided',
    );
    const about = { budgetId: purse.id, scopeId: purse.scopeId, reservationId: id };
    expect(events.slice(2).map(({ payload }: { payload: object }) => payload)).to.deep.equal([
      { ...about, state: 'ACTIVE', amountMinor: '10' },
      { ...about, entryId: settled, state: 'ACTIVE', amountMinor: '3' },
      { ...about, entryId: voided, state: 'VOIDED', amountMinor: '7' },
    ]);
  });
});
