import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply } from '../../support/world.ts';
import { Purse } from './purse.ts';

const largest = '999999999999999999';

const reserved = async (purse: Purse, amount: string): Promise<string> => (await purse.reserve(amount)).body.id;

const events = async (purse: Purse, type: string): Promise<Reply['body'][]> =>
  (await purse.world.get('/events?limit=500')).body.events.filter((event: Reply['body']) => event.type === type);

describe('settle with overrun', () => {
  it('an overrun is paid by available funds, and the reservation is SETTLED with its amount as it was', async () => {
    const purse = await Purse.create('100');
    const id = await reserved(purse, '12');
    expect(codeOf(await purse.settle(id, '16', 'w', { overrun: false }))).to.equal(
      '409 SETTLEMENT_EXCEEDS_RESERVATION',
    );
    expect(codeOf(await purse.settle(id, '16'))).to.equal('409 SETTLEMENT_EXCEEDS_RESERVATION');
    const { status, body } = await purse.overrun(id, '16', 'w');
    expect(status).to.equal(200);
    expect(body.entry).to.include({ kind: 'SETTLE', amountMinor: '16', overdrawnMinor: '0', workKey: 'w' });
    expect(body.reservation).to.include({ state: 'SETTLED', amountMinor: '12', settledMinor: '16' });
    expect(body.reservation).to.include({ voidedMinor: '0', remainingMinor: '0', closedAt: body.entry.createdAt });
    expect(body.balances).to.deep.equal({
      limit: '100',
      reserved: '0',
      settled: '16',
      available: '84',
      overdrawn: '0',
    });
    expect((await purse.view()).reservations).to.deep.equal([body.reservation]);
    expect(await events(purse, 'budget.overdrawn')).to.deep.equal([]);
    expect(await purse.counters('op:budget.settle', 'reservations:ACTIVE', 'reservations:SETTLED')).to.deep.equal([
      '1',
      '0',
      '1',
    ]);
  });

  it('an overrun without funds overdraws the budget, apart from its balances: budget.overdrawn', async () => {
    const purse = await Purse.create('20');
    const [first, second] = [await reserved(purse, '12'), await reserved(purse, '5')];
    const { entry, reservation, balances } = (await purse.overrun(first, '144')).body;
    expect([entry.amountMinor, entry.overdrawnMinor, reservation.settledMinor]).to.deep.equal(['144', '129', '144']);
    expect(balances).to.deep.equal({ limit: '20', reserved: '5', settled: '15', available: '0', overdrawn: '129' });
    expect((await purse.overrun(second, '6')).body.entry.overdrawnMinor).to.equal('1');
    expect(await purse.balances()).to.equal('20 0 20 0 overdrawn 130');
    expect((await purse.world.eventTypes()).slice(-4)).to.deep.equal([
      'budget.settled',
      'budget.overdrawn',
      'budget.settled',
      'budget.overdrawn',
    ]);
    const [{ scopeId, payload }] = (await events(purse, 'budget.overdrawn')) as [Reply['body']];
    expect(scopeId).to.equal(purse.scopeId);
    expect(payload).to.deep.equal({
      ...{ budgetId: purse.id, scopeId, reservationId: first, entryId: entry.id },
      ...{ overdrawnMinor: '129', overdrawn: '129' },
    });
  });

  it('an atomic batch compares the overdrawn amount in the answer of a settle', async () => {
    const purse = await Purse.create('20');
    const { world, id: budgetId } = purse;
    const reservationId = await reserved(purse, '12');
    const settle = { call: 'budget.settle', budgetId, reservationId, amountMinor: '21', workKey: 'w', overrun: true };
    const settled = (overdrawn: string): Promise<Reply> =>
      world.post('/batch', { atomic: true, calls: [{ ...settle, expect: { balances: { overdrawn } } }] });
    const { body } = await settled('0');
    expect(body.error).to.include({ code: 'EXPECTATION_FAILED', call: 'budget.settle' });
    expect(body.error.message).to.include('balances.overdrawn is 1, but the call expects 0');
    expect(codeOf(await settled('1'))).to.equal('200');
  });

  it('takes what is left after earlier settles; within the reservation it is a settle as any other', async () => {
    const purse = await Purse.create('100');
    const id = await reserved(purse, '12');
    const within = (await purse.overrun(id, '5')).body;
    expect(within.reservation).to.include({ state: 'ACTIVE', settledMinor: '5', remainingMinor: '7' });
    expect(await purse.balances()).to.equal('100 7 5 88');
    const beyond = (await purse.overrun(id, '96')).body;
    expect(beyond.reservation).to.include({ state: 'SETTLED', amountMinor: '12', settledMinor: '101' });
    expect(await purse.balances()).to.equal('100 0 100 0 overdrawn 1');
    const whole = await reserved(await Purse.create('5', purse.world), '5');
    expect(codeOf(await purse.overrun(whole, '1'))).to.equal('409 RESERVATION_NOT_FOUND');
  });

  it('the same workKey and amount replay the first entry, with what it was overdrawn by', async () => {
    const purse = await Purse.create('10');
    const id = await reserved(purse, '10');
    const first = (await purse.overrun(id, '16', 'w')).body;
    for (const again of [await purse.overrun(id, '016', 'w'), await purse.settle(id, '16', 'w')]) {
      expect([again.status, again.body.replay, again.body.entry]).to.deep.equal([200, true, first.entry]);
      expect(again.body.reservation).to.deep.equal(first.reservation);
    }
    expect(codeOf(await purse.overrun(id, '17', 'w'))).to.equal('409 WORK_KEY_CONFLICT');
    expect(codeOf(await purse.overrun(id, '1'))).to.equal('409 RESERVATION_CLOSED');
    expect(codeOf(await purse.overrun(id, '0'))).to.equal('409 RESERVATION_CLOSED');
    expect(await purse.balances()).to.equal('10 0 10 0 overdrawn 6');
    for (const overrun of ['true', 1]) {
      const refused = await purse.settle(id, '1', 'w', { overrun });
      expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
      expect(refused.body.error.message).to.contain('overrun');
    }
  });

  it('an overdrawn budget refuses new reserves; settles, voids and known workKeys go on', async () => {
    const purse = await Purse.create('20');
    const first = await reserved(purse, '8');
    const second = (await purse.reserve('12', { workKey: 'job' })).body.id;
    await purse.overrun(first, '11');
    await purse.settle(second, '2');
    await purse.void(second);
    expect(await purse.balances()).to.equal('20 0 10 10 overdrawn 3');
    const refused = await purse.reserve('1');
    expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
    expect(refused.body.error.message).to.contain('overdrawn by 3').and.to.contain('at least 13');
    expect((await purse.reserve('12', { workKey: 'job' })).body).to.include({ id: second, replay: true });
    // The limit as it is covers it by now; setting it says so.
    expect((await purse.limit('20')).status).to.equal(200);
    expect(await purse.balances()).to.equal('20 0 13 7');
    expect((await purse.reserve('7')).status).to.equal(201);
  });

  it('a limit that covers what the budget is overdrawn by moves it into settled; a lower one does not', async () => {
    const purse = await Purse.create('20');
    await purse.overrun(await reserved(purse, '10'), '50');
    const held = '20 0 20 0 overdrawn 30';
    expect(await purse.balances()).to.equal(held);
    expect(codeOf(await purse.limit('19'))).to.equal('409 LIMIT_BELOW_USE');
    // The same limit covers nothing, and changes nothing.
    const before = await purse.counters('op:budget.update');
    await purse.limit('20');
    expect([await purse.balances(), await purse.counters('op:budget.update')]).to.deep.equal([held, before]);
    await purse.limit('49');
    expect(await purse.balances()).to.equal('49 0 20 29 overdrawn 30');
    expect(codeOf(await purse.reserve('1'))).to.equal('409 INSUFFICIENT_BUDGET');
    const covered = await purse.limit('50');
    expect(covered.body.balances).to.deep.equal({
      limit: '50',
      reserved: '0',
      settled: '50',
      available: '0',
      overdrawn: '0',
    });
    expect(await purse.counters('op:budget.update')).to.deep.equal(['2']);
    await purse.limit('51');
    expect((await purse.reserve('1')).status).to.equal(201);
    expect((await events(purse, 'budget.limit_changed')).map(({ payload }) => payload.limitMinor)).to.deep.equal([
      '49',
      '50',
      '51',
    ]);
  });

  it('is exact where amounts have 18 digits and their sums more', async () => {
    const purse = await Purse.create(largest);
    const [first, second] = [await reserved(purse, '1'), await reserved(purse, '999999999999999998')];
    await purse.settle(second, '999999999999999997');
    expect((await purse.overrun(first, largest)).body.entry.overdrawnMinor).to.equal('999999999999999998');
    const { entry, reservation, balances } = (await purse.overrun(second, largest)).body;
    expect([entry.overdrawnMinor, reservation.amountMinor, reservation.settledMinor]).to.deep.equal([
      '999999999999999998',
      '999999999999999998',
      '1999999999999999996',
    ]);
    expect(balances).to.deep.equal({
      ...{ limit: largest, reserved: '0', settled: largest, available: '0' },
      overdrawn: '1999999999999999996',
    });
    const refused = await purse.reserve('1');
    expect(refused.body.error.message).to.contain('at least 2999999999999999995');
  });

  it('200 overruns at once book every unit once: what was spent is settled or overdrawn', async () => {
    const purse = await Purse.create('300000');
    const ids = await Promise.all(Array.from({ length: 200 }, () => reserved(purse, '1000')));
    const costs = ids.map(() => randomInt(0, 3000));
    const replies = await Promise.all(
      ids.flatMap((id, i) => [
        purse.overrun(id, String(costs[i]), `w${i}`),
        ...(i % 2 ? [purse.overrun(id, String(costs[i]), `w${i}`)] : []),
        ...(i % 10 ? [] : [purse.limit(String(300_000 + i)), purse.reserve('1000')]),
      ]),
    );
    const settled = replies.filter(({ body }) => body.entry);
    expect(settled.every(({ status }) => status === 200)).to.equal(true);
    expect(settled.filter(({ body }) => body.replay).length).to.equal(100);
    const spent = costs.reduce((sum, cost) => sum + cost, 0);
    const { limit, reserved: held, settled: booked, available, overdrawn } = (await purse.view()).balances;
    expect(Number(limit)).to.equal(Number(held) + Number(booked) + Number(available));
    expect(Number(booked) + Number(overdrawn)).to.equal(spent);
    const remaining = costs.reduce((sum, cost) => sum + Math.max(0, 1000 - cost), 0);
    const late = replies.filter(({ status, body }) => status === 201 && body.amountMinor === '1000').length * 1000;
    expect(Number(held)).to.equal(remaining + late);
  });
});
