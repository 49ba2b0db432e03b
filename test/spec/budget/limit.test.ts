import { expect } from 'chai';
import { codeOf, type Reply } from '../../support/world.ts';
import { Purse } from './purse.ts';

const events = async (purse: Purse) => (await purse.world.get('/events?limit=500')).body.events;

describe('PATCH /budgets/{id}', () => {
  const patch = (purse: Purse, body: unknown): Promise<Reply> =>
    purse.world.call('PATCH', `/budgets/${purse.id}`, body);

  it('sets the limit: 200 with the budget, limit = reserved + settled + available', async () => {
    const purse = await Purse.create('1000');
    const { id } = (await purse.reserve('300')).body;
    await purse.settle(id, '100');
    for (const [limitMinor, balances] of [
      ['05000', '5000 200 100 4700'],
      ['300', '300 200 100 0'],
      ['999999999999999999', '999999999999999999 200 100 999999999999999699'],
    ] as const) {
      const { status, body } = await patch(purse, { limitMinor });
      expect([status, body.id, body.limitMinor]).to.deep.equal([200, purse.id, body.balances.limit]);
      expect(await purse.balances()).to.equal(balances);
    }
    expect((await purse.reserve('999999999999999699')).status).to.equal(201);
    for (const body of [{}, { limitMinor: null }])
      expect(codeOf(await patch(purse, body))).to.equal('400 VALIDATION_FAILED');
  });

  it('answers 409 LIMIT_BELOW_USE below what is reserved and settled, and names that amount', async () => {
    const purse = await Purse.create('1000');
    await purse.settle((await purse.reserve('300')).body.id, '300');
    await purse.reserve('40');
    const refused = await patch(purse, { limitMinor: '339' });
    expect(codeOf(refused)).to.equal('409 LIMIT_BELOW_USE');
    expect(refused.body.error.message).to.contain('340');
    expect(await purse.balances()).to.equal('1000 40 300 660');
  });

  it('a new limit emits budget.limit_changed, is audited and counts once; the same limit does not', async () => {
    const purse = await Purse.create('1000');
    const { world } = purse;
    await patch(purse, { limitMinor: '7' });
    expect((await patch(purse, { limitMinor: '007' })).body.limitMinor).to.equal('7');
    const emitted = (await events(purse)).filter(({ type }: { type: string }) => type === 'budget.limit_changed');
    expect(emitted.map(({ aggregateId, payload }: Reply['body']) => [aggregateId, payload])).to.deep.equal([
      [purse.id, { budgetId: purse.id, limitMinor: '7' }],
    ]);
    expect(await purse.counters('op:budget.update')).to.deep.equal(['1']);
    const [[, entry]] = (await world.service.store.xrevrange(`muster:{${world.org}}:audit`, '+', '-', 'COUNT', 1)) as [
      [string, string[]],
    ];
    expect(entry.slice(0, 2)).to.deep.equal(['action', 'budget.limit_changed']);
    expect(entry.slice(4)).to.deep.equal(['target', purse.id, 'detail', '{"limitMinor":"7"}']);
  });

  it('never leaves more reserved than the limit when many run in parallel with reserves', async () => {
    const purse = await Purse.create('100');
    const calls = Array.from({ length: 60 }, (_, n) =>
      n % 3 === 0 ? patch(purse, { limitMinor: String(40 + n) }) : purse.reserve('7'),
    );
    const reserved = (await Promise.all(calls)).filter(({ body, status }) => status === 201 && body.budgetId).length;
    const { limit, reserved: held, available } = (await purse.view('?limit=1')).balances;
    expect(Number(held)).to.equal(7 * reserved);
    expect(Number(limit)).to.equal(Number(held) + Number(available));
    expect(Number(available)).to.be.at.least(0);
  });
});
