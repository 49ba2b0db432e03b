import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

describe('reserve, settle and void', () => {
  it('reserve takes the amount from what is available: 201 with the ACTIVE reservation and the balances', async () => {
    const purse = await Purse.create();
    const { status, body } = await purse.reserve('0300');
    expect(status).to.equal(201);
    expect(body).to.deep.include({ budgetId: purse.id, scopeId: purse.scopeId, holder: 'agent-1', amountMinor: '300' });
    expect(body).to.deep.include({ settledMinor: '0', voidedMinor: '0', remainingMinor: '300', state: 'ACTIVE' });
    expect(body).to.deep.include({ settleBy: null, overdue: false, closedAt: null });
    expect(body.balances).to.deep.equal({ limit: '1000', reserved: '300', settled: '0', available: '700' });
    expect((await purse.view()).reservations).to.deep.equal([body].map(({ balances: _, replay: __, ...rest }) => rest));
  });

  it('reserve of more than is available is INSUFFICIENT_BUDGET; exactly what is available succeeds', async () => {
    const purse = await Purse.create('999999999999999999');
    await purse.reserve('1');
    const refused = await purse.reserve('999999999999999999');
    expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
    expect(refused.body.error.message).to.contain('999999999999999998');
    expect((await purse.reserve('999999999999999998')).status).to.equal(201);
    expect(await purse.balances()).to.equal('999999999999999999 999999999999999999 0 0');
  });

  it('reserve "0" is 400, settle "0" is accepted', async () => {
    const purse = await Purse.create();
    for (const amount of ['0', '000', '0000000000000000001']) {
      expect(codeOf(await purse.reserve(amount)), amount).to.equal('400 VALIDATION_FAILED');
    }
    const { body } = await purse.reserve('5');
    const settled = await purse.settle(body.id, '0');
    expect(settled.body.entry).to.deep.include({ kind: 'SETTLE', amountMinor: '0' });
    expect(await purse.balances()).to.equal('1000 5 0 995');
  });

  it('settle may be repeated up to the reserved amount, and leaves the remainder reserved', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('100')).body;
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

  it('an unknown reservationId, or one of another budget, is 409 RESERVATION_NOT_FOUND', async () => {
    const purse = await Purse.create();
    const other = await Purse.create('1000', purse.world);
    const { id } = (await other.reserve('5')).body;
    for (const reservationId of [randomUUID(), id]) {
      const settle = await purse.settle(reservationId, '5');
      expect(codeOf(settle)).to.equal('409 RESERVATION_NOT_FOUND');
      expect(codeOf(await purse.void(reservationId))).to.equal('409 RESERVATION_NOT_FOUND');
    }
  });

  it('a repeated workKey replays the first entry with current balances, also after the reservation is closed', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('100')).body;
    const first = (await purse.settle(id, '30', 'w')).body;
    await purse.reserve('200');
    const again = await purse.settle(id, '030', 'w');
    expect([again.status, again.body.replay, again.body.entry]).to.deep.equal([200, true, first.entry]);
    expect(again.body.balances).to.deep.equal({ limit: '1000', reserved: '270', settled: '30', available: '700' });
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

  it('a workKey reused for another reservation or amount is WORK_KEY_CONFLICT; each budget has its own keys', async () => {
    const purse = await Purse.create();
    const [one, two] = [(await purse.reserve('10')).body.id, (await purse.reserve('10')).body.id];
    await purse.settle(one, '5', 'w');
    expect(codeOf(await purse.settle(one, '4', 'w'))).to.equal('409 WORK_KEY_CONFLICT');
    expect(codeOf(await purse.settle(two, '5', 'w'))).to.equal('409 WORK_KEY_CONFLICT');
    await purse.void(one, 'v');
    expect(codeOf(await purse.void(two, 'v'))).to.equal('409 WORK_KEY_CONFLICT');
    const other = await Purse.create('10', purse.world);
    expect((await other.settle((await other.reserve('10')).body.id, '5', 'w')).body.replay).to.equal(false);
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

  it('settle and void need no Idempotency-Key, and replay with one', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('10')).body;
    const path = `/budgets/${purse.id}/settle`;
    const headers = { 'Idempotency-Key': 'settle-1' };
    const body = { reservationId: id, amountMinor: '4', workKey: 'w' };
    const first = await purse.world.post(path, body, headers);
    await purse.void(id);
    const again = await purse.world.post(path, body, headers);
    expect(again.body).to.deep.equal({ ...first.body, replay: true });
    const bareHeaders = { Authorization: `Bearer ${purse.world.apiKey}`, 'Content-Type': 'application/json' };
    const bare = await purse.world.send(
      'POST',
      `/v1/spaces/${purse.world.spaceId}${path}`,
      JSON.stringify(body),
      bareHeaders,
    );
    expect([bare.status, bare.body.replay, bare.body.reservation.state]).to.deep.equal([200, true, 'VOIDED']);
  });

  it('reserve is refused when operations are used up; settle and void still work', async () => {
    const world = await World.create({ plan: 'free' });
    const purse = await Purse.create('1000', world);
    const [one, two] = [(await purse.reserve('10')).body.id, (await purse.reserve('10')).body.id];
    await world.service.store.hset(`muster:{${world.org}}`, 'operations', '3');
    const refused = await purse.reserve('10');
    expect(codeOf(refused)).to.equal('402 OPERATIONS_EXHAUSTED');
    expect([(await purse.settle(one, '1')).status, (await purse.void(two)).status]).to.deep.equal([200, 200]);
  });

  it('keep the counts of reservations by state right', async () => {
    const purse = await Purse.create();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await purse.reserve('10')).body.id);
    for (const id of ids.slice(0, 2)) await purse.settle(id, '10');
    await purse.void(ids[2] ?? '');
    expect(await purse.counters('reservations:ACTIVE', 'reservations:SETTLED', 'reservations:VOIDED')).to.deep.equal([
      '2',
      '2',
      '1',
    ]);
  });
});
